/// encoder/config.json of a checkpoint: which encoder, its sizes, its attention pattern.
///
/// Invariants: every size is positive and bounded; heads divide hidden_size into an even
/// head_dim; layer_attention has one entry per layer. Thread-safety: plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::encoder {

enum class EncoderFamily : std::uint8_t { kModernBert, kBert };
enum class LayerAttention : std::uint8_t { kFull, kSliding };

struct EncoderConfig {
  EncoderFamily family = EncoderFamily::kModernBert;
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  float norm_eps = 1e-5F;
  /// ModernBERT only; BERT always has biases.
  bool norm_bias = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  /// A sliding layer sees keys with |i - j| <= half_window.
  int half_window = 0;
  std::vector<LayerAttention> layer_attention;
  double rope_theta_full = 160000.0;
  double rope_theta_sliding = 10000.0;
  /// BERT: rows of the position table, so the longest row. ModernBERT: informational.
  int positions_max = 0;
  /// BERT only.
  int token_types = 0;

  int head_dim() const { return hidden_size / heads; }

  /// Reads both spellings of the RoPE settings; the new form overrides the old.
  /// Errors: kArtifactIntegrity (not JSON, wrong kinds), kUnsupportedModel (another model_type,
  /// activation, rope_type or layer type; sizes that do not fit together), naming the field.
  /// Source: transformers 5.x ModernBertConfig, BertConfig; laya 0.4.15 loads them by AutoConfig.
  static Result<EncoderConfig> parse(std::string_view json, const std::string& file_name);
};

}  // namespace layard::encoder
