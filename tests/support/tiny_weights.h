/// Random weights of any size in memory, for tests that need a model but no files.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "encoder/weights.h"

namespace layard::testing {

/// Owns float32 tensors for a config and the ModelWeights bound to them.
class RandomWeights {
 public:
  RandomWeights(const encoder::EncoderConfig& config, const encoder::HeadConfig& head,
                unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 0.15F);
    for (const auto& expected : encoder::expected_tensors(config, head)) {
      auto& data = storage_.emplace_back(tensor::element_count(expected.shape));
      const bool norm_weight = expected.name.find("orm") != std::string::npos &&
                               expected.name.ends_with(".weight") && expected.shape.size() == 1;
      for (float& value : data) value = normal(random) + (norm_weight ? 1.0F : 0.0F);
      views_[expected.name] = {tensor::DType::kFloat32, expected.shape,
                               reinterpret_cast<const std::byte*>(data.data())};
      names_.push_back(expected.name);
    }
    weights_ = *encoder::ModelWeights::bind(
        config, head, names_,
        [this](std::string_view name) -> const tensor::TensorView* {
          const auto found = views_.find(name);
          return found == views_.end() ? nullptr : &found->second;
        },
        "tiny");
  }
  RandomWeights(const RandomWeights&) = delete;

  const encoder::ModelWeights& weights() const { return weights_; }
  const std::vector<std::string>& names() const { return names_; }
  std::map<std::string, tensor::TensorView, std::less<>>& views() { return views_; }

 private:
  std::deque<std::vector<float>> storage_;
  std::map<std::string, tensor::TensorView, std::less<>> views_;
  std::vector<std::string> names_;
  encoder::ModelWeights weights_;
};

/// A small ModernBERT: 4 layers (full, sliding, sliding, full), half window 4.
inline encoder::EncoderConfig tiny_modernbert() {
  encoder::EncoderConfig config;
  config.vocab_size = 50;
  config.hidden_size = 32;
  config.intermediate_size = 40;
  config.layers = 4;
  config.heads = 4;
  config.half_window = 4;
  using enum encoder::LayerAttention;
  config.layer_attention = {kFull, kSliding, kSliding, kFull};
  config.positions_max = 8192;
  return config;
}

/// A small BERT: 2 layers, 600 positions.
inline encoder::EncoderConfig tiny_bert() {
  encoder::EncoderConfig config = tiny_modernbert();
  config.family = encoder::EncoderFamily::kBert;
  config.layers = 2;
  config.layer_attention.assign(2, encoder::LayerAttention::kFull);
  config.norm_eps = 1e-12F;
  config.norm_bias = config.attention_bias = config.mlp_bias = true;
  config.positions_max = 600;
  config.token_types = 2;
  return config;
}

}  // namespace layard::testing
