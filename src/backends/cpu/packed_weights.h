/// A checkpoint's weights as the kernels read them, and the number formats they may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/kernels.h"
#include "tensor/tensor.h"

namespace layard::backends::cpu {

/// How the kernels name a stored element type.
kernels::ElementType element_type(tensor::DType dtype);

/// What linear layers compute with. Norms, softmax, attention's products and the scorer are float32
/// always.
enum class ComputeType : std::uint8_t {
  kFloat32,   ///< exact: weights as stored, float32 arithmetic or its equal in parts
  kFloat16,   ///< weights rounded to float16, then as kFloat32
  kBFloat16,  ///< weights rounded to bfloat16; activations too where the processor has such
              ///< products
  kInt8,      ///< 8-bit products in the middle layers; the first, the last and the head in float
};

/// `float32`, `float16`, `bfloat16`, `int8`.
std::string_view compute_type_name(ComputeType type);
std::optional<ComputeType> parse_compute_type(std::string_view name);

/// Layer norm weights as float32; a norm without weight is the identity.
struct NormWeights {
  const float* weight = nullptr;
  const float* bias = nullptr;
  bool present() const { return weight != nullptr; }
};

/// encoder::EncoderLayer, with q, k and v as one [3d, d] matrix in both families.
struct PackedLayer {
  NormWeights attention_norm;
  kernels::PackedMatrix qkv;
  kernels::PackedMatrix attention_out;
  NormWeights mlp_norm;
  kernels::PackedMatrix mlp_in;  ///< gated for ModernBERT
  kernels::PackedMatrix mlp_out;
};

/// encoder::HeadLayer. The last layer computes queries only where an answer is read, so its in_proj
/// is cut into `q` [d, d] and `kv` [2d, d]; the others have it whole in `qkv`.
struct PackedHeadLayer {
  NormWeights norm1;
  kernels::PackedMatrix qkv;
  kernels::PackedMatrix q;
  kernels::PackedMatrix kv;
  kernels::PackedMatrix out;
  NormWeights norm2;
  kernels::PackedMatrix linear1;
  kernels::PackedMatrix linear2;
};

struct PackedWeights {
  NormWeights embedding_norm;
  std::vector<PackedLayer> layers;
  NormWeights final_norm;
  const float* bert_type_row = nullptr;   ///< [d], BERT only
  const float* question_types = nullptr;  ///< [3, d]
  std::vector<PackedHeadLayer> head;
  NormWeights scorer_norm;
  kernels::PackedMatrix scorer_hidden;
  kernels::PackedMatrix scorer_out;
  kernels::PackedMatrix act_hidden;
  kernels::PackedMatrix act_out;
};

}  // namespace layard::backends::cpu
