/// A checkpoint's weights in the form the kernels want, shared by every session that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/packed_cache.h"
#include "backends/cpu/packed_weights.h"
#include "encoder/weights.h"
#include "kernels/kernels.h"
#include "layard/error.h"
#include "tensor/buffer.h"

namespace layard::backends::cpu {

class Packing;

/// Invariants: immutable; all packed memory is one block; the embedding tables are read where the
/// checkpoint lies and never copied.
/// Thread-safety: any number of readers.
class CpuModel {
 public:
  struct Options {
    ComputeType type = ComputeType::kFloat32;
    /// Threads that pack.
    int threads = 1;
    /// Where packed weights are kept; null: nowhere. Used only during create().
    PackedCache* cache = nullptr;
    /// The weights' and the configuration's part of the key; the rest is filled in.
    PackedKey key = {};
  };

  /// Packed weights smaller than this are not kept: packing them takes no time.
  static constexpr std::size_t kCachedBytesMin = std::size_t{16} << 20U;

  /// Packs every matrix for `kernels`, or maps what an earlier process packed.
  /// Ownership: `owner` keeps the memory behind `weights` alive as long as the model.
  /// Errors: kInternal when there is no memory for the packed weights, naming its size;
  /// kUnsupportedModel when a weight is beyond float16's range and kFloat16 was asked for.
  static Result<std::shared_ptr<const CpuModel>> create(const encoder::ModelWeights& weights,
                                                        std::shared_ptr<const void> owner,
                                                        const kernels::KernelTable& kernels,
                                                        const Options& options);

  const encoder::EncoderConfig& config() const { return source_.config; }
  /// Embedding tables and sizes; other tensors are read in packed form.
  const encoder::ModelWeights& source() const { return source_; }
  const kernels::KernelTable& kernels() const { return *kernels_; }
  const PackedWeights& weights() const { return packed_; }
  ComputeType compute_type() const { return type_; }
  std::size_t packed_bytes() const { return packed_bytes_; }
  /// Whether the packed weights are a mapped file that processes share.
  bool is_mapped() const { return !mapped_.bytes().empty(); }
  /// The most that any matrix wants for `rows` prepared rows; zero when none prepares rows.
  std::size_t operand_bytes(std::size_t rows) const;
  /// The most that any matrix wants as one thread's scratch.
  std::size_t scratch_bytes_max() const { return scratch_bytes_max_; }

 private:
  CpuModel(const encoder::ModelWeights& weights, std::shared_ptr<const void> owner,
           const kernels::KernelTable& kernels, ComputeType type)
      : source_(weights), owner_(std::move(owner)), kernels_(&kernels), type_(type) {}

  /// Finds a home for the packed weights (a file of the cache where there is one, else memory) and
  /// fills it unless it comes filled.
  void hold(Packing& packing, const Options& options);
  void hold_in_memory(Packing& packing, int threads);
  void use_mapped(Packing& packing, base::MappedFile file);
  PackedKey packed_key(const Options& options) const;
  void note_preparation(const kernels::LinearKernels* linear, std::size_t k);

  encoder::ModelWeights source_;
  std::shared_ptr<const void> owner_;
  const kernels::KernelTable* kernels_;
  ComputeType type_;
  /// Each way of preparing rows that a matrix of the model has, with its largest k.
  struct Preparation {
    const kernels::LinearKernels* kernels;
    std::size_t k;
  };
  std::vector<Preparation> preparations_;
  std::size_t scratch_bytes_max_ = 0;
  PackedWeights packed_;
  std::size_t packed_bytes_ = 0;
  // What holds the packed weights: a mapped file, a file that could not be given its name, or
  // memory.
  base::MappedFile mapped_;
  std::unique_ptr<PackedWriter> unnamed_;
  tensor::Buffer memory_;
};

}  // namespace layard::backends::cpu
