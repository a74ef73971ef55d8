// Goal: a kernel that became slow turns the suite red on any machine: each matrix product is timed
// beside the multiply-add peak of the same core in the same run, as a ratio. The bounds are about
// two thirds of what was measured when they were set (bench/results), so that a busy machine passes
// and a lost vector or a spilled register does not.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "kernels/fma_peak.h"
#include "kernels/kernels.h"

namespace layard::bench {
namespace {

using kernels::Isa;
using kernels::LinearFormat;
using kernels::LinearKernels;

constexpr std::size_t kRows = 128;
constexpr std::size_t kColumns = 256;
constexpr std::size_t kDepth = 1024;

// Processor time of this thread: what others do on a shared machine counts least.
double seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Aligned {
  explicit Aligned(std::size_t bytes)
      : data(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {
    std::memset(data, 0, bytes);
  }
  ~Aligned() { ::operator delete (data, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  std::byte* data;
};

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

double gemm_rate(const LinearKernels& linear) {
  const std::size_t panels = kernels::panel_count(linear, kColumns, false);
  const std::size_t panel_bytes = linear.panel_bytes(kDepth);
  const Aligned packed(panels * panel_bytes);
  std::vector<float> row(kDepth);
  for (std::size_t i = 0; i < kDepth; ++i) row[i] = static_cast<float>(i % 37) * 0.01F - 0.2F;
  const std::vector<const void*> rows(linear.panel_columns, row.data());
  for (std::size_t p = 0; p < panels; ++p) {
    linear.pack_panel(rows.data(), kernels::ElementType::kFloat32, kDepth,
                      packed.data + p * panel_bytes);
  }
  constexpr std::size_t kRowBytes = (kDepth + 16) * sizeof(float);
  const bool prepared = linear.prepare != nullptr;
  const Aligned a(prepared ? linear.operand_bytes(kRows, kDepth) : kRows * kRowBytes);
  for (std::size_t r = 0; r < kRows; ++r) {
    if (prepared) {
      linear.prepare(row.data(), kDepth, r, a.data);
    } else {
      std::memcpy(a.data + r * kRowBytes, row.data(), kDepth * sizeof(float));
    }
  }
  std::vector<float> c(kRows * (kColumns + 16));
  const Aligned scratch(linear.scratch_bytes(kDepth));
  kernels::GemmArgs args;
  args.a = a.data;
  args.a_stride = kRowBytes;
  args.w = {&linear, packed.data, nullptr, kColumns, kDepth, false};
  args.c = c.data();
  args.ldc = kColumns + 16;
  return best_rate(2.0 * kRows * kColumns * kDepth, [&] {
    linear.gemm(args, {0, kRows}, {0, panels}, scratch.data);
  });
}

struct Bound {
  Isa isa;
  LinearFormat format;
  double of_fma_peak;
};
constexpr Bound kBounds[] = {
    {Isa::kAvx2, LinearFormat::kFloat32, 0.55},
    {Isa::kAvx2, LinearFormat::kFloat16Weights, 0.55},
    {Isa::kAvx2, LinearFormat::kInt8, 1.1},
    {Isa::kAvx512, LinearFormat::kFloat32, 0.50},
    {Isa::kAvx512, LinearFormat::kFloat16Weights, 0.50},
    {Isa::kAvx512, LinearFormat::kInt8, 0.60},  // 2.8 with VNNI
    {Isa::kAmx, LinearFormat::kFloat16Weights, 1.1},
    {Isa::kAmx, LinearFormat::kBFloat16, 5.0},
    {Isa::kAmx, LinearFormat::kInt8, 9.0},
    {Isa::kNeon, LinearFormat::kFloat32, 0.30},
};

TEST(KernelSpeed, ProductsBesideThePeak) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "speed is measured in optimised builds without sanitizers";
#endif
  std::size_t measured = 0;
  for (const Bound& bound : kBounds) {
    const kernels::KernelTable* table = kernels::find_kernels(bound.isa);
    if (table == nullptr || table->find(bound.format) == nullptr) continue;
    const LinearKernels& linear = *table->find(bound.format);
    double ratio = 0;
    // Three tries: a neighbour may take the core's caches for a while.
    for (int i = 0; i < 3 && ratio < bound.of_fma_peak; ++i) {
      double operations = 0;
      const double peak = best_rate(1, [&] { operations = run_fma(bound.isa, 20000); });
      ratio = gemm_rate(linear) / (peak * operations);
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
