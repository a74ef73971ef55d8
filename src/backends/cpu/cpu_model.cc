#include "backends/cpu/cpu_model.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "backends/cpu/thread_pool.h"
#include "tensor/arena.h"

namespace layard::backends::cpu {
namespace {

using encoder::Linear;
using kernels::KernelTable;
using kernels::PackedMatrix;
using tensor::Arena;
using tensor::TensorView;

/// Rows [row_begin, row_end) of the stacked rows of `parts`, to become one packed matrix.
struct MatrixJob {
  PackedMatrix* target = nullptr;
  std::vector<const Linear*> parts;
  std::size_t row_begin = 0;
  std::size_t row_end = 0;
  bool gated = false;
  float* panels = nullptr;
  float* bias = nullptr;
  /// Parts as float32 where their stored types differ; else empty.
  std::vector<std::vector<float>> widened = {};
};

/// A tensor kept as plain float32.
struct VectorJob {
  const float** target = nullptr;
  const TensorView* view = nullptr;
};

std::size_t rows_of(const Linear& linear) {
  return static_cast<std::size_t>(linear.weight.shape[0]);
}

/// Collects what a model needs, then places and fills it.
class Packing {
 public:
  Packing(const encoder::ModelWeights& source, const KernelTable& kernels, PackedWeights& target)
      : source_(source), kernels_(kernels), target_(target) {
    encoder_jobs();
    head_jobs();
  }

  /// Floats of everything, each block on its own cache lines.
  std::size_t floats() const {
    std::size_t total = 0;
    for (const MatrixJob& job : matrices_) {
      total += Arena::footprint(panel_floats(job)) + Arena::footprint(bias_floats(job));
    }
    for (const VectorJob& job : vectors_) total += Arena::footprint(job.view->size());
    return total;
  }

  /// REQUIRES: `memory` has floats() floats.
  void place(float* memory) {
    const auto take = [&](std::size_t count) {
      return std::exchange(memory, memory + Arena::footprint(count));
    };
    for (MatrixJob& job : matrices_) {
      job.panels = take(panel_floats(job));
      job.bias = bias_floats(job) > 0 ? take(bias_floats(job)) : nullptr;
      const std::size_t rows = job.row_end - job.row_begin;
      *job.target = {job.panels, job.bias, job.gated ? rows / 2 : rows, depth(job), job.gated};
      if (mixed_types(job)) widen_parts(job);
    }
    for (const VectorJob& job : vectors_) {
      float* at = take(job.view->size());
      tensor::to_float(*job.view, 0, {at, job.view->size()});
      *job.target = at;
    }
  }

  void fill(ThreadPool& pool) const {
    std::vector<std::size_t> first_panel = {0};
    for (const MatrixJob& job : matrices_) first_panel.push_back(first_panel.back() + panels(job));
    pool.run(first_panel.back(), [&](std::size_t index, std::size_t) {
      const auto after = std::upper_bound(first_panel.begin(), first_panel.end(), index);
      const auto job = static_cast<std::size_t>(after - first_panel.begin()) - 1;
      fill_panel(matrices_[job], index - first_panel[job]);
    });
  }

 private:
  void encoder_jobs() {
    norm(source_.embedding_norm, target_.embedding_norm);
    if (source_.config.family == encoder::EncoderFamily::kModernBert) {
      norm(source_.final_norm, target_.final_norm);
    } else {
      vectors_.push_back({&target_.bert_type_row, &source_.type_embedding_row});
    }
    const bool gated = source_.config.family == encoder::EncoderFamily::kModernBert;
    target_.layers.resize(source_.layers.size());
    for (std::size_t i = 0; i < source_.layers.size(); ++i) {
      const encoder::EncoderLayer& from = source_.layers[i];
      PackedLayer& to = target_.layers[i];
      norm(from.attention_norm, to.attention_norm);
      MatrixJob qkv;
      qkv.target = &to.qkv;
      for (const Linear& part : from.qkv) {
        qkv.parts.push_back(&part);
        qkv.row_end += rows_of(part);
      }
      matrices_.push_back(std::move(qkv));
      matrix(from.attention_out, to.attention_out);
      norm(from.mlp_norm, to.mlp_norm);
      rows(from.mlp_in, to.mlp_in, 0, rows_of(from.mlp_in), gated);
      matrix(from.mlp_out, to.mlp_out);
    }
  }

  void head_jobs() {
    vectors_.push_back({&target_.question_types, &source_.question_type_embedding});
    target_.head.resize(source_.head_layers.size());
    for (std::size_t j = 0; j < source_.head_layers.size(); ++j) {
      const encoder::HeadLayer& from = source_.head_layers[j];
      PackedHeadLayer& to = target_.head[j];
      norm(from.norm1, to.norm1);
      const std::size_t d = rows_of(from.in_proj) / 3;
      if (j + 1 < source_.head_layers.size()) {
        matrix(from.in_proj, to.qkv);
      } else {
        rows(from.in_proj, to.q, 0, d, false);
        rows(from.in_proj, to.kv, d, 3 * d, false);
      }
      matrix(from.out_proj, to.out);
      norm(from.norm2, to.norm2);
      matrix(from.linear1, to.linear1);
      matrix(from.linear2, to.linear2);
    }
    norm(source_.scorer_norm, target_.scorer_norm);
    matrix(source_.scorer_hidden, target_.scorer_hidden);
    matrix(source_.scorer_out, target_.scorer_out);
    matrix(source_.act_hidden, target_.act_hidden);
    matrix(source_.act_out, target_.act_out);
  }

  void norm(const encoder::Norm& from, NormWeights& to) {
    if (!from.present()) return;
    vectors_.push_back({&to.weight, &from.weight});
    if (from.has_bias()) vectors_.push_back({&to.bias, &from.bias});
  }

  void matrix(const Linear& from, PackedMatrix& to) { rows(from, to, 0, rows_of(from), false); }

  void rows(const Linear& from, PackedMatrix& to, std::size_t begin, std::size_t end, bool gated) {
    MatrixJob job;
    job.target = &to;
    job.parts = {&from};
    job.row_begin = begin;
    job.row_end = end;
    job.gated = gated;
    matrices_.push_back(std::move(job));
  }

  static std::size_t depth(const MatrixJob& job) {
    return static_cast<std::size_t>(job.parts[0]->weight.shape[1]);
  }
  std::size_t panels(const MatrixJob& job) const {
    const std::size_t rows = job.row_end - job.row_begin;
    return kernels::panel_count(kernels_, job.gated ? rows / 2 : rows, job.gated);
  }
  std::size_t panel_floats(const MatrixJob& job) const {
    return panels(job) * kernels_.panel_columns * depth(job);
  }
  std::size_t bias_floats(const MatrixJob& job) const {
    const bool any = std::any_of(job.parts.begin(), job.parts.end(),
                                 [](const Linear* part) { return part->has_bias(); });
    return any ? panels(job) * kernels_.panel_columns : 0;
  }
  static bool mixed_types(const MatrixJob& job) {
    return std::any_of(job.parts.begin(), job.parts.end(), [&](const Linear* part) {
      return part->weight.dtype != job.parts[0]->weight.dtype;
    });
  }
  static void widen_parts(MatrixJob& job) {
    for (const Linear* part : job.parts) {
      auto& wide = job.widened.emplace_back(part->weight.size());
      tensor::to_float(part->weight, 0, wide);
    }
  }

  /// The stored row `row` of the stacked parts, and its bias.
  struct StoredRow {
    const void* data;
    float bias;
  };
  static StoredRow stored_row(const MatrixJob& job, std::size_t row) {
    std::size_t part = 0;
    while (row >= rows_of(*job.parts[part])) row -= rows_of(*job.parts[part++]);
    const Linear& linear = *job.parts[part];
    const float bias = linear.has_bias() ? tensor::element(linear.bias, row) : 0.0F;
    if (!job.widened.empty()) return {&job.widened[part][row * depth(job)], bias};
    return {linear.weight.data + row * depth(job) * tensor::dtype_bytes(linear.weight.dtype), bias};
  }

  void fill_panel(const MatrixJob& job, std::size_t panel) const {
    const std::size_t width = kernels_.panel_columns;
    const std::size_t n = job.target->n;
    const std::size_t columns = job.gated ? width / 2 : width;
    std::vector<const void*> rows(width);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t column = panel * columns + c % columns;
      if (column >= n) continue;  // past the end: a null row, a zero bias
      const StoredRow row = stored_row(job, job.row_begin + column + (c < columns ? 0 : n));
      rows[c] = row.data;
      if (job.bias != nullptr) job.bias[panel * width + c] = row.bias;
    }
    const kernels::ElementType type = job.widened.empty() ? element_type(job.parts[0]->weight.dtype)
                                                          : kernels::ElementType::kFloat32;
    kernels_.pack_panel(rows.data(), type, depth(job), job.panels + panel * width * depth(job));
  }

  const encoder::ModelWeights& source_;
  const KernelTable& kernels_;
  PackedWeights& target_;
  std::vector<MatrixJob> matrices_;
  std::vector<VectorJob> vectors_;
};

}  // namespace

kernels::ElementType element_type(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat16:
      return kernels::ElementType::kFloat16;
    case tensor::DType::kBFloat16:
      return kernels::ElementType::kBFloat16;
    default:
      return kernels::ElementType::kFloat32;
  }
}

Result<std::shared_ptr<const CpuModel>> CpuModel::create(const encoder::ModelWeights& weights,
                                                         std::shared_ptr<const void> owner,
                                                         const kernels::KernelTable& kernels,
                                                         int threads) {
  std::size_t bytes = 0;
  try {
    std::shared_ptr<CpuModel> model(new CpuModel(weights, std::move(owner), kernels));
    Packing packing(model->source_, kernels, model->packed_);
    bytes = packing.floats() * sizeof(float);
    model->memory_ = tensor::Buffer(packing.floats());
    packing.place(model->memory_.data());
    ThreadPool pool(threads);
    packing.fill(pool);
    return std::shared_ptr<const CpuModel>(std::move(model));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal, "no memory for the packed weights (" +
                                           std::to_string(bytes >> 20) +
                                           " MiB); free some or use a smaller checkpoint"};
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kInternal, std::string("cannot start packing threads: ") +
                                           error.what() + "; ask for fewer threads"};
  }
}

}  // namespace layard::backends::cpu
