/// From a checkpoint's tensors to packed weights: which format each matrix gets, where it lies, and
/// the packing itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/packed_weights.h"
#include "backends/cpu/thread_pool.h"
#include "encoder/weights.h"
#include "kernels/kernels.h"
#include "layard/error.h"

namespace layard::backends::cpu {

/// How much a matrix suffers from rounding.
enum class Role : std::uint8_t {
  kMiddle,     ///< layers between the first and the last of the encoder
  kSensitive,  ///< the first and the last layer, and the head
  kScorer,     ///< small and last: float32 always
};

/// Formats of matrices by role and stored type.
class Formats {
 public:
  Formats(const kernels::KernelTable& kernels, ComputeType type) : kernels_(kernels), type_(type) {}

  /// For a matrix of rows of `depth` elements, stored as `stored`.
  const kernels::LinearKernels& of(Role role, tensor::DType stored, std::size_t depth) const {
    return kernels_.of(format(role, stored, depth));
  }

 private:
  kernels::LinearFormat format(Role role, tensor::DType stored, std::size_t depth) const {
    using enum kernels::LinearFormat;
    if (role == Role::kScorer) return kFloat32;
    switch (type_) {
      case ComputeType::kFloat16:
        return kFloat16Weights;
      case ComputeType::kBFloat16:
        return kBFloat16;
      case ComputeType::kInt8:
        if (role == Role::kMiddle && depth <= kernels::kInt8DepthMax) return kInt8;
        // On tiles bfloat16 is several times as fast as the exact formats; elsewhere it is not.
        return kernels_.isa == kernels::Isa::kAmx ? kBFloat16 : exact(stored);
      default:
        return exact(stored);
    }
  }
  /// 16-bit weights stay as they are stored: half the memory and the same products.
  static kernels::LinearFormat exact(tensor::DType stored) {
    using enum kernels::LinearFormat;
    if (stored == tensor::DType::kFloat16) return kFloat16Weights;
    return stored == tensor::DType::kBFloat16 ? kBFloat16Weights : kFloat32;
  }

  const kernels::KernelTable& kernels_;
  ComputeType type_;
};

/// Collects what a model needs, then places and fills it.
/// Thread-safety: one caller at a time; fill() uses the pool it is given.
class Packing {
 public:
  /// `source` and `target` must outlive this object.
  Packing(const encoder::ModelWeights& source, const Formats& formats, PackedWeights& target);

  /// Calls visit(kernels, k) for every matrix whose rows are prepared.
  template <class Visit>
  void each_prepared(const Visit& visit) const {
    for (const MatrixJob& job : matrices_) {
      if (job.kernels->prepare != nullptr) visit(job.kernels, depth(job));
    }
  }
  std::size_t scratch_bytes_max() const;

  /// Floats of everything, each block on its own cache lines.
  std::size_t floats() const;

  /// Points every target into `memory`, whose layout depends on nothing but shapes and formats.
  /// REQUIRES: `memory` has floats() floats.
  void place(float* memory);

  /// Errors: kUnsupportedModel when a weight would become infinite in float16.
  Status check_float16_range() const;

  /// Writes what place() pointed to. REQUIRES: zeroed memory.
  void fill(ThreadPool& pool);

 private:
  /// Rows [row_begin, row_end) of the stacked rows of `parts`, to become one packed matrix.
  struct MatrixJob {
    kernels::PackedMatrix* target = nullptr;
    std::vector<const encoder::Linear*> parts;
    std::size_t row_begin = 0;
    std::size_t row_end = 0;
    bool gated = false;
    const kernels::LinearKernels* kernels = nullptr;
    std::byte* panels = nullptr;
    float* bias = nullptr;
    /// Parts as float32 where their stored types differ; else empty.
    std::vector<std::vector<float>> widened = {};
  };
  /// A tensor kept as plain float32.
  struct VectorJob {
    const float** target = nullptr;
    const tensor::TensorView* view = nullptr;
    float* values = nullptr;
  };
  void encoder_jobs();
  void head_jobs();
  void norm(const encoder::Norm& from, NormWeights& to);

  struct Kind {
    Role role = Role::kMiddle;
    bool gated = false;
  };

  void matrix(const encoder::Linear& from, kernels::PackedMatrix& to, Role role);
  void rows(const encoder::Linear& from, kernels::PackedMatrix& to, kernels::IndexRange range,
            Kind kind);
  void add(MatrixJob job, Role role);

  static std::size_t depth(const MatrixJob& job);
  std::size_t panels(const MatrixJob& job) const;
  std::size_t panel_floats(const MatrixJob& job) const;
  std::size_t bias_floats(const MatrixJob& job) const;
  static bool mixed_types(const MatrixJob& job);
  static void widen_parts(MatrixJob& job);

  /// The stored row `row` of the stacked parts, and its bias.
  struct StoredRow {
    const void* data;
    float bias;
  };
  static StoredRow stored_row(const MatrixJob& job, std::size_t row);

  void fill_panel(const MatrixJob& job, std::size_t panel) const;

  const encoder::ModelWeights& source_;
  Formats formats_;
  PackedWeights& target_;
  std::vector<MatrixJob> matrices_;
  std::vector<VectorJob> vectors_;
};

}  // namespace layard::backends::cpu
