#include "runtime/devices.h"

#include <algorithm>

namespace layard::runtime {

namespace {

constexpr int kTokenCacheEntriesMax = 1 << 20;

}  // namespace

Result<DeviceChoice> choose_device(const std::string& device) {
  using enum DeviceRequest;
  if (device == "auto") return DeviceChoice{kAuto, "npu_runtime_unavailable"};
  if (device == "cpu") return DeviceChoice{kCpu, "cpu_requested"};
  if (device == "gpu") return DeviceChoice{kGpu, "gpu_requested"};
  if (device == "npu" || device == "ane") return DeviceChoice{kNpu, "npu_requested"};
  return Error{ErrorCode::kInvalidRequest,
               "unknown device '" + device + "'; use auto, cpu, gpu or npu (ane)"};
}

Result<const kernels::KernelTable*> choose_kernels(const Environment& environment) {
  std::string name = environment.force_isa;  // AVX2 as well as avx2
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  auto table = kernels::select_kernels(name);
  if (table.ok()) return table;
  return Error{table.error().code, "LAYARD_FORCE_ISA or --isa: " + table.error().message};
}

Status check_options(const ModelOptions& options) {
  const auto& known = {"float32", "float16", "bfloat16", "int8", "auto"};
  if (std::none_of(known.begin(), known.end(),
                   [&](const char* name) { return options.dtype == name; })) {
    return Error{ErrorCode::kInvalidRequest, "unknown dtype '" + options.dtype +
                                                 "'; use float32, float16, bfloat16, int8 or auto"};
  }
  if (options.environment.threads < 0 || options.environment.threads > 1024) {
    return Error{ErrorCode::kInvalidRequest,
                 "threads must be from 1 to 1024, or 0 for what is allowed"};
  }
  const int entries = options.environment.token_cache_entries;
  if (entries < 0 || entries > kTokenCacheEntriesMax) {
    return Error{ErrorCode::kInvalidRequest, "token_cache_entries is " + std::to_string(entries) +
                                                 "; give 0 to " +
                                                 std::to_string(kTokenCacheEntriesMax)};
  }
  LAYARD_TRY(choose_kernels(options.environment));
  return {};
}

Status require_runnable(const DeviceChoice& choice) {
  if (choice.request == DeviceRequest::kGpu) {
    return Error{
        ErrorCode::kBackendUnavailable,
        "device gpu: the module backend_mlx.so is not part of this build; use --device cpu"};
  }
  if (choice.request == DeviceRequest::kNpu) {
    return Error{
        ErrorCode::kBackendUnavailable,
        "device npu: the module backend_openvino.so is not part of this build; use --device "
        "cpu"};
  }
  return {};
}

}  // namespace layard::runtime
