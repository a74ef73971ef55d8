/// The most fused multiply-adds one core can do: the roof that kernels are measured against.
#pragma once

#include "kernels/kernels.h"

namespace layard::bench {

/// Runs `rounds` rounds of 12 independent register accumulators, without loads, on `isa`.
/// Returns floating-point operations done (two per lane and multiply-add).
/// REQUIRES: kernels::isa_supported(isa).
double run_fma(kernels::Isa isa, long rounds);

}  // namespace layard::bench
