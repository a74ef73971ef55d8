#include "backends/cpu/cpu_model.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "backends/cpu/packing.h"
#include "backends/cpu/thread_pool.h"

namespace layard::backends::cpu {

using kernels::LinearKernels;

PackedKey CpuModel::packed_key(const Options& options) const {
  PackedKey key = options.key;
  key.isa = kernels_->name;
  key.code_hash = kernels::isa_code_hash(kernels_->isa);
  key.compute_type = compute_type_name(options.type);
  return key;
}

void CpuModel::use_mapped(Packing& packing, base::MappedFile file) {
  mapped_ = std::move(file);
  // Never written: place() only points, and the mapping is read-only.
  auto* payload = const_cast<std::byte*>(mapped_.bytes().data()) + PackedCache::kHeaderBytes;
  packing.place(reinterpret_cast<float*>(payload));
}

void CpuModel::hold_in_memory(Packing& packing, int threads) {
  memory_ = tensor::Buffer(packed_bytes_ / sizeof(float));
  packing.place(memory_.data());
  ThreadPool pool(threads);
  packing.fill(pool);
}

void CpuModel::hold(Packing& packing, const Options& options) {
  if (options.cache == nullptr || packed_bytes_ < kCachedBytesMin) {
    return hold_in_memory(packing, options.threads);
  }
  PackedCache& cache = *options.cache;
  const PackedKey key = packed_key(options);
  if (auto found = cache.find(key, packed_bytes_)) return use_mapped(packing, *std::move(found));
  auto writer = cache.create(packed_bytes_);
  if (!writer.ok()) {
    cache.warn("packed weights are not kept", writer.error());
    return hold_in_memory(packing, options.threads);
  }
  unnamed_ = *std::move(writer);
  packing.place(reinterpret_cast<float*>(unnamed_->payload().data()));
  ThreadPool pool(options.threads);
  packing.fill(pool);
  auto named = cache.commit(*unnamed_, key);
  if (!named.ok()) {
    cache.warn("packed weights are not kept", named.error());
    return;  // the unnamed memory serves this process
  }
  use_mapped(packing, *std::move(named));
  unnamed_.reset();
}

void CpuModel::note_preparation(const kernels::LinearKernels* linear, std::size_t k) {
  for (Preparation& known : preparations_) {
    if (known.kernels == linear) {
      known.k = std::max(known.k, k);
      return;
    }
  }
  preparations_.push_back({linear, k});
}

std::size_t CpuModel::operand_bytes(std::size_t rows) const {
  std::size_t most = 0;
  for (const Preparation& entry : preparations_) {
    most = std::max(most, entry.kernels->operand_bytes(rows, entry.k));
  }
  return most;
}

Result<std::shared_ptr<const CpuModel>> CpuModel::create(const encoder::ModelWeights& weights,
                                                         std::shared_ptr<const void> owner,
                                                         const kernels::KernelTable& kernels,
                                                         const Options& options) {
  std::size_t bytes = 0;
  try {
    std::shared_ptr<CpuModel> model(new CpuModel(weights, std::move(owner), kernels, options.type));
    const Formats formats(kernels, options.type);
    Packing packing(model->source_, formats, model->packed_);
    bytes = packing.floats() * sizeof(float);
    if (options.type == ComputeType::kFloat16) LAYARD_TRY(packing.check_float16_range());
    model->packed_bytes_ = bytes;
    model->scratch_bytes_max_ = packing.scratch_bytes_max();
    packing.each_prepared(
        [&](const LinearKernels* linear, std::size_t k) { model->note_preparation(linear, k); });
    model->hold(packing, options);
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
