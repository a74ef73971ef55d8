#include "encoder/weights.h"

#include <algorithm>
#include <set>

#include "base/checks.h"

namespace layard::encoder {
namespace {

using tensor::Shape;
using tensor::TensorView;

// Names and shapes are written once, here: the same walk lists what is expected and binds it.
class Walk {
 public:
  using Visit = std::function<void(const std::string& name, Shape shape, TensorView& target)>;

  Walk(const EncoderConfig& config, const HeadConfig& head, Visit visit)
      : c_(config), head_(head), visit_(std::move(visit)) {}

  void all(ModelWeights& w) {
    c_.family == EncoderFamily::kBert ? bert(w) : modernbert(w);
    const Shape::value_type d = c_.hidden_size;
    visit_("type_emb.weight", {3, d}, w.question_type_embedding);
    w.head_layers.resize(static_cast<std::size_t>(head_.layers));
    for (int j = 0; j < head_.layers; ++j)
      head_layer(j, w.head_layers[static_cast<std::size_t>(j)]);
    norm("scorer.0", w.scorer_norm, true);
    linear("scorer.1", d, d, w.scorer_hidden, true);
    linear("scorer.3", 1, d, w.scorer_out, true);
    linear("act_head.0", 256, d + 4, w.act_hidden, true);
    linear("act_head.2", head_.act_outputs, 256, w.act_out, true);
    visit_("temperature", {3}, unused_);  // only the JSON's temperatures are used
  }

 private:
  void norm(const std::string& name, Norm& target, bool bias) {
    visit_(name + ".weight", {c_.hidden_size}, target.weight);
    if (bias) visit_(name + ".bias", {c_.hidden_size}, target.bias);
  }

  void linear(const std::string& name, std::int64_t out, std::int64_t in, Linear& target,
              bool bias) {
    visit_(name + ".weight", {out, in}, target.weight);
    if (bias) visit_(name + ".bias", {out}, target.bias);
  }

  void modernbert(ModelWeights& w) {
    const std::int64_t d = c_.hidden_size;
    const std::int64_t f = c_.intermediate_size;
    visit_("encoder.embeddings.tok_embeddings.weight", {c_.vocab_size, d}, w.token_embedding);
    norm("encoder.embeddings.norm", w.embedding_norm, c_.norm_bias);
    w.layers.resize(static_cast<std::size_t>(c_.layers));
    for (int i = 0; i < c_.layers; ++i) {
      EncoderLayer& layer = w.layers[static_cast<std::size_t>(i)];
      const std::string at = "encoder.layers." + std::to_string(i);
      if (i > 0) norm(at + ".attn_norm", layer.attention_norm, c_.norm_bias);
      layer.qkv.resize(1);
      linear(at + ".attn.Wqkv", 3 * d, d, layer.qkv[0], c_.attention_bias);
      linear(at + ".attn.Wo", d, d, layer.attention_out, c_.attention_bias);
      norm(at + ".mlp_norm", layer.mlp_norm, c_.norm_bias);
      linear(at + ".mlp.Wi", 2 * f, d, layer.mlp_in, c_.mlp_bias);
      linear(at + ".mlp.Wo", d, f, layer.mlp_out, c_.mlp_bias);
    }
    norm("encoder.final_norm", w.final_norm, c_.norm_bias);
  }

  void bert(ModelWeights& w) {
    const std::int64_t d = c_.hidden_size;
    const std::string embeddings = "encoder.embeddings.";
    visit_(embeddings + "word_embeddings.weight", {c_.vocab_size, d}, w.token_embedding);
    visit_(embeddings + "position_embeddings.weight", {c_.positions_max, d}, w.position_embedding);
    visit_(embeddings + "token_type_embeddings.weight", {c_.token_types, d}, w.type_embedding_row);
    norm(embeddings + "LayerNorm", w.embedding_norm, true);
    w.layers.resize(static_cast<std::size_t>(c_.layers));
    for (int i = 0; i < c_.layers; ++i) {
      EncoderLayer& layer = w.layers[static_cast<std::size_t>(i)];
      const std::string at = "encoder.encoder.layer." + std::to_string(i);
      layer.qkv.resize(3);
      linear(at + ".attention.self.query", d, d, layer.qkv[0], true);
      linear(at + ".attention.self.key", d, d, layer.qkv[1], true);
      linear(at + ".attention.self.value", d, d, layer.qkv[2], true);
      linear(at + ".attention.output.dense", d, d, layer.attention_out, true);
      norm(at + ".attention.output.LayerNorm", layer.attention_norm, true);
      linear(at + ".intermediate.dense", c_.intermediate_size, d, layer.mlp_in, true);
      linear(at + ".output.dense", d, c_.intermediate_size, layer.mlp_out, true);
      norm(at + ".output.LayerNorm", layer.mlp_norm, true);
    }
    // Stored by every BertModel, read by no answer.
    visit_("encoder.pooler.dense.weight", {d, d}, unused_);
    visit_("encoder.pooler.dense.bias", {d}, unused_);
  }

  void head_layer(int j, HeadLayer& layer) {
    const std::int64_t d = c_.hidden_size;
    const std::string at = "head.layers." + std::to_string(j);
    visit_(at + ".self_attn.in_proj_weight", {3 * d, d}, layer.in_proj.weight);
    visit_(at + ".self_attn.in_proj_bias", {3 * d}, layer.in_proj.bias);
    linear(at + ".self_attn.out_proj", d, d, layer.out_proj, true);
    linear(at + ".linear1", 4 * d, d, layer.linear1, true);
    linear(at + ".linear2", d, 4 * d, layer.linear2, true);
    norm(at + ".norm1", layer.norm1, true);
    norm(at + ".norm2", layer.norm2, true);
  }

  const EncoderConfig& c_;
  const HeadConfig& head_;
  Visit visit_;
  TensorView unused_;
};

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

Error unsupported(const std::string& file, const std::string& what) {
  return {ErrorCode::kUnsupportedModel, "Incompatible model weights for '" + file + "': " + what};
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > most ? ", ..." : "");
}

Status check_prefixes(std::span<const std::string> names, const std::string& file) {
  for (const char* prefix : {"encoder.", "type_emb.", "scorer.", "act_head."}) {
    const bool found = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.starts_with(prefix);
    });
    if (!found) {
      return unsupported(file, std::string("checkpoint is missing '") + prefix +
                                   "' parameters; use a checkpoint exported by laya");
    }
  }
  return {};
}

}  // namespace

std::vector<ExpectedTensor> expected_tensors(const EncoderConfig& config, const HeadConfig& head) {
  std::vector<ExpectedTensor> expected;
  ModelWeights scratch;
  Walk(config, head, [&](const std::string& name, Shape shape, TensorView&) {
    expected.push_back({name, std::move(shape)});
  }).all(scratch);
  return expected;
}

Result<ModelWeights> ModelWeights::bind(const EncoderConfig& config, const HeadConfig& head,
                                        std::span<const std::string> names, const Find& find,
                                        const std::string& file_name) {
  LAYARD_TRY(check_prefixes(names, file_name));
  ModelWeights weights;
  weights.config = config;
  weights.head_config = head;
  std::set<std::string, std::less<>> known;
  std::vector<std::string> missing;
  std::vector<std::string> mismatched;
  Walk(config, head, [&](const std::string& name, const Shape& shape, TensorView& target) {
    known.insert(name);
    const TensorView* view = find(name);
    if (view == nullptr) {
      missing.push_back(name);
    } else if (view->shape != shape) {
      mismatched.push_back("\n  - " + name + ": expected " + shape_text(shape) + ", found " +
                           shape_text(view->shape));
    } else {
      target = *view;
    }
  }).all(weights);
  if (!mismatched.empty()) {
    std::string text =
        std::to_string(mismatched.size()) + " tensors have other shapes than the configs say:";
    for (std::size_t i = 0; i < mismatched.size() && i < 5; ++i) text += mismatched[i];
    return unsupported(file_name, text);
  }
  if (!missing.empty()) {
    return Error{ErrorCode::kUnsupportedModel, "Model weights incomplete for '" + file_name +
                                                   "': missing " + std::to_string(missing.size()) +
                                                   " parameter tensors (e.g. " +
                                                   listed(missing, 3) + ")"};
  }
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    if (!known.contains(name)) extra.push_back(name);
  }
  if (!extra.empty()) {
    return unsupported(file_name, std::to_string(extra.size()) + " unexpected tensors (" +
                                      listed(extra, 3) + "); the configs describe another model");
  }
  return weights;
}

}  // namespace layard::encoder
