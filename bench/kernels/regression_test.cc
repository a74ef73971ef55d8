// Goal: a kernel that became slow turns the suite red on any machine: each matrix product is timed
// beside the multiply-add peak of the same core in the same run, as a ratio. The bounds are about
// two thirds of the ratios seen when they were set, which stand beside them, so that a busy machine
// passes and a lost vector or a spilled register does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "kernels/fma_peak.h"
#include "kernels/gemm_operands.h"
#include "kernels/kernels.h"

namespace layard::bench {
namespace {

using kernels::Isa;
using kernels::LinearFormat;
using kernels::LinearKernels;

constexpr std::size_t kRows = 128;
constexpr GemmShape kShape = {256, 1024, kernels::Activation::kNone};

// The fastest of many short runs, in operations a second.
template <class Work>
double best_rate(double operations, const Work& work) {
  double fastest = 1e9;
  for (int i = 0; i < 60; ++i) {
    const double start = seconds_now();
    work();
    fastest = std::min(fastest, seconds_now() - start);
  }
  return operations / fastest;
}

struct Bound {
  Isa isa;
  LinearFormat format;
  double of_fma_peak;
};
// Seen on Intel Xeon (family 6, models 167 and 207) and, with AVX-512, AMD EPYC (family 25).
constexpr Bound kBounds[] = {
    {Isa::kAvx2, LinearFormat::kFloat32, 0.55},           // 0.83
    {Isa::kAvx2, LinearFormat::kFloat16Weights, 0.55},    // 0.88
    {Isa::kAvx2, LinearFormat::kInt8, 1.1},               // 1.7
    {Isa::kAvx512, LinearFormat::kFloat32, 0.50},         // 0.72 to 0.76
    {Isa::kAvx512, LinearFormat::kFloat16Weights, 0.50},  // 0.80 to 0.85
    {Isa::kAvx512, LinearFormat::kBFloat16, 0.50},        // 0.8; 1.9 with BF16
    {Isa::kAvx512, LinearFormat::kInt8, 0.60},            // 2.8 with VNNI, 1.0 without
    {Isa::kAmx, LinearFormat::kFloat16Weights, 1.1},      // 1.6 to 1.8
    {Isa::kAmx, LinearFormat::kBFloat16, 5.0},            // 8
    {Isa::kAmx, LinearFormat::kInt8, 9.0},                // 14
    {Isa::kNeon, LinearFormat::kFloat32, 0.30},           // not yet seen on a processor
};

TEST(KernelSpeed, ProductsBesideThePeak) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "speed is measured in optimised builds without sanitizers";
#endif
  std::size_t measured = 0;
  for (const Bound& bound : kBounds) {
    const kernels::KernelTable* table = kernels::find_kernels(bound.isa);
    if (table == nullptr) continue;
    const LinearKernels& linear = table->of(bound.format);
    const GemmOperands operands(linear, kRows, kShape, 1);
    double ratio = 0;
    // Three tries: a neighbour may take the core's caches for a while.
    for (int i = 0; i < 3 && ratio < bound.of_fma_peak; ++i) {
      double operations = 0;
      const double peak = best_rate(1, [&] { operations = run_fma(bound.isa, 20000); });
      ratio = best_rate(operands.operations(), [&] { operands.multiply(0); }) / (peak * operations);
    }
    EXPECT_GE(ratio, bound.of_fma_peak) << table->name << ", " << linear.name;
    std::printf("%-8s %-28s %.2f of the multiply-add peak\n", std::string(table->name).c_str(),
                std::string(linear.name).c_str(), ratio);
    ++measured;
  }
  if (measured == 0) GTEST_SKIP() << "scalar kernels only";
}

}  // namespace
}  // namespace layard::bench
