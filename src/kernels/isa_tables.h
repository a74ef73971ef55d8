/// Where each instruction set's table is defined. Not for callers: use kernels.h.
#pragma once

#include <string_view>

#include "kernels/kernels.h"

namespace layard::kernels {

/// What a processor has beyond NEON itself.
struct NeonFeatures {
  bool bfloat16 = false;  ///< BFMMLA
  bool int8 = false;      ///< SMMLA
};

/// From the bits that the system gives as AT_HWCAP2.
/// Source: Linux arch/arm64/include/uapi/asm/hwcap.h.
constexpr NeonFeatures neon_features(unsigned long hwcap2) {
  constexpr unsigned long kInt8 = 1UL << 13U;      // HWCAP2_I8MM
  constexpr unsigned long kBFloat16 = 1UL << 14U;  // HWCAP2_BF16
  return {(hwcap2 & kBFloat16) != 0, (hwcap2 & kInt8) != 0};
}

/// The name under which results and packed weights of NEON kernels with `features` are known.
constexpr std::string_view neon_variant(NeonFeatures features) {
  if (features.bfloat16) return features.int8 ? "neon+bf16+i8mm" : "neon+bf16";
  return features.int8 ? "neon+i8mm" : "neon";
}

/// The hash of an instruction set's code, or of a variant of it (`neon+bf16`, `avx512+vnni`); empty
/// for other names.
std::string_view code_hash(std::string_view variant);

const KernelTable& scalar_kernels();
#if defined(__x86_64__)
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
const KernelTable& avx512_vnni_kernels();
const KernelTable& avx512_bf16_kernels();
const KernelTable& amx_kernels();
#endif
#if defined(__aarch64__)
/// One table for each set of features, the same at every call.
const KernelTable& neon_kernels(NeonFeatures features);
const LinearKernels& neon_bfloat16_blocks();
const LinearKernels& neon_int8_blocks();
#endif

}  // namespace layard::kernels
