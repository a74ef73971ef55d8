/// The tensors of a checkpoint by role, checked against the two configs.
///
/// Invariants: every view has the shape its comment states and points into memory that the owner
/// of the checkpoint keeps alive. Thread-safety: plain value, read-only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/config.h"
#include "layard/error.h"
#include "tensor/tensor.h"

namespace layard::encoder {

/// y = x W^T + b. weight [out, in], bias [out] or absent (data null).
struct Linear {
  tensor::TensorView weight;
  tensor::TensorView bias;
  bool has_bias() const { return bias.data != nullptr; }
};

/// Layer norm. weight [d]; bias [d] or absent. Absent weight: the norm is the identity.
struct Norm {
  tensor::TensorView weight;
  tensor::TensorView bias;
  bool present() const { return weight.data != nullptr; }
  bool has_bias() const { return bias.data != nullptr; }
};

/// ModernBERT: norms come before their block, layer 0 has no attention norm, qkv is one [3d, d]
/// matrix (q rows, k rows, v rows), mlp_in is [2F, d] (activated half, then gate).
/// BERT: norms come after their block and residual, q, k, v are three [d, d] matrices in `qkv`,
/// mlp_in is [F, d].
struct EncoderLayer {
  Norm attention_norm;
  std::vector<Linear> qkv;
  Linear attention_out;
  Norm mlp_norm;
  Linear mlp_in;
  Linear mlp_out;
};

/// torch.nn.TransformerEncoderLayer, norm_first, ReLU. in_proj [3d, d] is q, k, v rows.
struct HeadLayer {
  Norm norm1;
  Linear in_proj;
  Linear out_proj;
  Norm norm2;
  Linear linear1;
  Linear linear2;
};

/// Sizes of the decision head, from rl_agent_config.json.
struct HeadConfig {
  int layers = 2;
  /// Outputs of the act head: len(act_costs) + 1.
  int act_outputs = 1;
};

struct ModelWeights {
  EncoderConfig config;
  HeadConfig head_config;

  tensor::TensorView token_embedding;     // [V, d]
  tensor::TensorView position_embedding;  // BERT: [positions_max, d]
  tensor::TensorView type_embedding_row;  // BERT: [token_types, d]; row 0 is used
  Norm embedding_norm;
  std::vector<EncoderLayer> layers;
  Norm final_norm;  // ModernBERT only

  tensor::TensorView question_type_embedding;  // [3, d]
  std::vector<HeadLayer> head_layers;
  Norm scorer_norm;
  Linear scorer_hidden;  // [d, d]
  Linear scorer_out;     // [1, d]
  Linear act_hidden;     // [256, d + 4]
  Linear act_out;        // [act_outputs, 256]

  /// Attention heads of the decision head: max(1, d / 64).
  int head_attention_heads() const { return std::max(1, config.hidden_size / 64); }

  using Find = std::function<const tensor::TensorView*(std::string_view name)>;

  /// Binds every tensor by name. `names` lists all tensors of the file; `file_name` is for
  /// messages. Errors: kUnsupportedModel with upstream's conditions in its order: a missing part
  /// (`encoder.`, `type_emb.`, `scorer.`, `act_head.`), shapes that differ (the first five),
  /// missing tensors, unexpected tensors, no `temperature`.
  /// Source: laya 0.4.15 agent.py load checks and strict load_state_dict.
  static Result<ModelWeights> bind(const EncoderConfig& config, const HeadConfig& head,
                                   std::span<const std::string> names, const Find& find,
                                   const std::string& file_name);
};

/// A tensor the model must have.
struct ExpectedTensor {
  std::string name;
  tensor::Shape shape;
};

/// Every tensor of such a checkpoint, `temperature` included.
std::vector<ExpectedTensor> expected_tensors(const EncoderConfig& config, const HeadConfig& head);

}  // namespace layard::encoder
