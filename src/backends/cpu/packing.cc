#include "backends/cpu/packing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tensor/arena.h"
#include "tensor/tensor.h"

namespace layard::backends::cpu {
namespace {

using encoder::Linear;
using kernels::PackedMatrix;
using tensor::Arena;

std::size_t rows_of(const Linear& linear) {
  return static_cast<std::size_t>(linear.weight.shape[0]);
}

struct NamedType {
  ComputeType type;
  std::string_view name;
};
constexpr NamedType kComputeTypes[] = {{ComputeType::kFloat32, "float32"},
                                       {ComputeType::kFloat16, "float16"},
                                       {ComputeType::kBFloat16, "bfloat16"},
                                       {ComputeType::kInt8, "int8"}};

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

std::string_view compute_type_name(ComputeType type) {
  for (const NamedType& entry : kComputeTypes) {
    if (entry.type == type) return entry.name;
  }
  return "float32";
}

std::optional<ComputeType> parse_compute_type(std::string_view name) {
  for (const NamedType& entry : kComputeTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

Packing::Packing(const encoder::ModelWeights& source, const Formats& formats, PackedWeights& target)
    : source_(source), formats_(formats), target_(target) {
  encoder_jobs();
  head_jobs();
}

std::size_t Packing::scratch_bytes_max() const {
  std::size_t most = 0;
  for (const MatrixJob& job : matrices_) {
    most = std::max(most, job.kernels->scratch_bytes(depth(job)));
  }
  return most;
}

std::size_t Packing::floats() const {
  std::size_t total = 0;
  for (const MatrixJob& job : matrices_) {
    total += Arena::footprint(panel_floats(job)) + Arena::footprint(bias_floats(job));
  }
  for (const VectorJob& job : vectors_) total += Arena::footprint(job.view->size());
  return total;
}

void Packing::place(float* memory) {
  const auto take = [&](std::size_t count) {
    return std::exchange(memory, memory + Arena::footprint(count));
  };
  for (MatrixJob& job : matrices_) {
    job.panels = reinterpret_cast<std::byte*>(take(panel_floats(job)));
    job.bias = bias_floats(job) > 0 ? take(bias_floats(job)) : nullptr;
    const std::size_t rows = job.row_end - job.row_begin;
    *job.target = {job.kernels, job.panels, job.bias, job.gated ? rows / 2 : rows,
                   depth(job),  job.gated};
  }
  for (VectorJob& job : vectors_) {
    job.values = take(job.view->size());
    *job.target = job.values;
  }
}

Status Packing::check_float16_range() const {
  constexpr float kMost = 65504.0F;
  std::vector<float> row;
  for (const MatrixJob& job : matrices_) {
    for (const Linear* part : job.parts) {
      if (part->weight.dtype == tensor::DType::kFloat16) continue;
      row.resize(depth(job));
      for (std::size_t r = 0; r < rows_of(*part); ++r) {
        tensor::to_float(part->weight, r * row.size(), row);
        const auto [low, high] = std::minmax_element(row.begin(), row.end());
        if (*low >= -kMost && *high <= kMost) continue;
        return Error{ErrorCode::kUnsupportedModel,
                     "a weight of this checkpoint is beyond float16's 65,504; use dtype float32"};
      }
    }
  }
  return {};
}

void Packing::fill(ThreadPool& pool) {
  for (const VectorJob& job : vectors_) {
    tensor::to_float(*job.view, 0, {job.values, job.view->size()});
  }
  for (MatrixJob& job : matrices_) {
    if (mixed_types(job)) widen_parts(job);
  }
  std::vector<std::size_t> first_panel = {0};
  for (const MatrixJob& job : matrices_) first_panel.push_back(first_panel.back() + panels(job));
  pool.run(first_panel.back(), [&](std::size_t index, std::size_t) {
    const auto after = std::upper_bound(first_panel.begin(), first_panel.end(), index);
    const auto job = static_cast<std::size_t>(after - first_panel.begin()) - 1;
    fill_panel(matrices_[job], index - first_panel[job]);
  });
}

void Packing::encoder_jobs() {
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
    const bool edge = i == 0 || i + 1 == source_.layers.size();
    const Role role = edge ? Role::kSensitive : Role::kMiddle;
    add(std::move(qkv), role);
    matrix(from.attention_out, to.attention_out, role);
    norm(from.mlp_norm, to.mlp_norm);
    rows(from.mlp_in, to.mlp_in, {0, rows_of(from.mlp_in)}, {role, gated});
    matrix(from.mlp_out, to.mlp_out, role);
  }
}

void Packing::head_jobs() {
  vectors_.push_back({&target_.question_types, &source_.question_type_embedding});
  target_.head.resize(source_.head_layers.size());
  for (std::size_t j = 0; j < source_.head_layers.size(); ++j) {
    const encoder::HeadLayer& from = source_.head_layers[j];
    PackedHeadLayer& to = target_.head[j];
    norm(from.norm1, to.norm1);
    const std::size_t d = rows_of(from.in_proj) / 3;
    if (j + 1 < source_.head_layers.size()) {
      matrix(from.in_proj, to.qkv, Role::kSensitive);
    } else {
      rows(from.in_proj, to.q, {0, d}, {Role::kSensitive, false});
      rows(from.in_proj, to.kv, {d, 3 * d}, {Role::kSensitive, false});
    }
    matrix(from.out_proj, to.out, Role::kSensitive);
    norm(from.norm2, to.norm2);
    matrix(from.linear1, to.linear1, Role::kSensitive);
    matrix(from.linear2, to.linear2, Role::kSensitive);
  }
  norm(source_.scorer_norm, target_.scorer_norm);
  matrix(source_.scorer_hidden, target_.scorer_hidden, Role::kScorer);
  matrix(source_.scorer_out, target_.scorer_out, Role::kScorer);
  matrix(source_.act_hidden, target_.act_hidden, Role::kScorer);
  matrix(source_.act_out, target_.act_out, Role::kScorer);
}

void Packing::norm(const encoder::Norm& from, NormWeights& to) {
  if (!from.present()) return;
  vectors_.push_back({&to.weight, &from.weight});
  if (from.has_bias()) vectors_.push_back({&to.bias, &from.bias});
}

void Packing::matrix(const Linear& from, PackedMatrix& to, Role role) {
  rows(from, to, {0, rows_of(from)}, {role, false});
}

void Packing::rows(const Linear& from, PackedMatrix& to, kernels::IndexRange range, Kind kind) {
  MatrixJob job;
  job.target = &to;
  job.parts = {&from};
  job.row_begin = range.begin;
  job.row_end = range.end;
  job.gated = kind.gated;
  add(std::move(job), kind.role);
}

void Packing::add(MatrixJob job, Role role) {
  const tensor::DType stored =
      mixed_types(job) ? tensor::DType::kFloat32 : job.parts[0]->weight.dtype;
  job.kernels = &formats_.of(role, stored, depth(job));
  matrices_.push_back(std::move(job));
}

std::size_t Packing::depth(const MatrixJob& job) {
  return static_cast<std::size_t>(job.parts[0]->weight.shape[1]);
}

std::size_t Packing::panels(const MatrixJob& job) const {
  const std::size_t rows = job.row_end - job.row_begin;
  return kernels::panel_count(*job.kernels, job.gated ? rows / 2 : rows, job.gated);
}

std::size_t Packing::panel_floats(const MatrixJob& job) const {
  return panels(job) * job.kernels->panel_bytes(depth(job)) / sizeof(float);
}

std::size_t Packing::bias_floats(const MatrixJob& job) const {
  const bool any = std::any_of(job.parts.begin(), job.parts.end(),
                               [](const Linear* part) { return part->has_bias(); });
  return any ? panels(job) * job.kernels->panel_columns : 0;
}

bool Packing::mixed_types(const MatrixJob& job) {
  return std::any_of(job.parts.begin(), job.parts.end(), [&](const Linear* part) {
    return part->weight.dtype != job.parts[0]->weight.dtype;
  });
}

void Packing::widen_parts(MatrixJob& job) {
  for (const Linear* part : job.parts) {
    auto& wide = job.widened.emplace_back(part->weight.size());
    tensor::to_float(part->weight, 0, wide);
  }
}

Packing::StoredRow Packing::stored_row(const MatrixJob& job, std::size_t row) {
  std::size_t part = 0;
  while (row >= rows_of(*job.parts[part])) row -= rows_of(*job.parts[part++]);
  const Linear& linear = *job.parts[part];
  const float bias = linear.has_bias() ? tensor::element(linear.bias, row) : 0.0F;
  if (!job.widened.empty()) return {&job.widened[part][row * depth(job)], bias};
  return {linear.weight.data + row * depth(job) * tensor::dtype_bytes(linear.weight.dtype), bias};
}

void Packing::fill_panel(const MatrixJob& job, std::size_t panel) const {
  const std::size_t width = job.kernels->panel_columns;
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
  job.kernels->pack_panel(rows.data(), type, depth(job),
                          job.panels + panel * job.kernels->panel_bytes(depth(job)));
}

}  // namespace layard::backends::cpu
