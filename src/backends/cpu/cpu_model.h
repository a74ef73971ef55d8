/// A checkpoint's weights in the form the kernels want, shared by every session that runs it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "encoder/weights.h"
#include "kernels/kernels.h"
#include "layard/error.h"
#include "tensor/buffer.h"

namespace layard::backends::cpu {

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

/// Invariants: immutable; all packed memory is one block; the embedding tables are read where the
/// checkpoint lies and never copied.
/// Thread-safety: any number of readers.
class CpuModel {
 public:
  /// Packs every matrix for `kernels`, using `threads` threads.
  /// Ownership: `owner` keeps the memory behind `weights` alive as long as the model.
  /// Errors: kInternal when there is no memory for the packed weights, naming its size.
  static Result<std::shared_ptr<const CpuModel>> create(const encoder::ModelWeights& weights,
                                                        std::shared_ptr<const void> owner,
                                                        const kernels::KernelTable& kernels,
                                                        int threads);

  const encoder::EncoderConfig& config() const { return source_.config; }
  /// Embedding tables and sizes; other tensors are read in packed form.
  const encoder::ModelWeights& source() const { return source_; }
  const kernels::KernelTable& kernels() const { return *kernels_; }
  const PackedWeights& weights() const { return packed_; }
  std::size_t packed_bytes() const { return memory_.size() * sizeof(float); }

 private:
  CpuModel(const encoder::ModelWeights& weights, std::shared_ptr<const void> owner,
           const kernels::KernelTable& kernels)
      : source_(weights), owner_(std::move(owner)), kernels_(&kernels) {}

  encoder::ModelWeights source_;
  std::shared_ptr<const void> owner_;
  const kernels::KernelTable* kernels_;
  PackedWeights packed_;
  tensor::Buffer memory_;
};

/// How the kernels name a stored element type.
kernels::ElementType element_type(tensor::DType dtype);

}  // namespace layard::backends::cpu
