/// Where each instruction set's table is defined. Not for callers: use kernels.h.
#pragma once

#include "kernels/kernels.h"

namespace layard::kernels {

const KernelTable& scalar_kernels();
#if defined(__x86_64__)
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
const KernelTable& avx512_vnni_kernels();
const KernelTable& amx_kernels();
#endif
#if defined(__aarch64__)
const KernelTable& neon_kernels();
#endif

}  // namespace layard::kernels
