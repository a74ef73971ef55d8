#include "backends/cpu/matmul.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard::backends::cpu {
namespace {

void check(std::size_t rows, std::size_t panels, std::size_t threads) {
  const MatmulCut cut = MatmulCut::of(rows, panels, 8, threads);
  std::vector<int> covered(rows * panels);
  for (std::size_t run = 0; run < cut.runs(); ++run) {
    for (std::size_t part = 0; part < cut.row_parts; ++part) {
      const kernels::IndexRange p = cut.panel_range(run);
      const kernels::IndexRange r = cut.row_range(part, rows);
      ASSERT_LE(p.end, panels);
      ASSERT_LE(r.end, rows);
      for (std::size_t i = r.begin; i < r.end; ++i) {
        for (std::size_t j = p.begin; j < p.end; ++j) ++covered[i * panels + j];
      }
    }
  }
  for (const int times : covered) ASSERT_EQ(times, 1) << rows << " " << panels << " " << threads;
  EXPECT_EQ(cut.parts(), cut.runs() * cut.row_parts);
}

TEST(Matmul, CutCoversEveryElementOnce) {
  for (const std::size_t rows : {1, 2, 55, 56, 200, 500}) {
    for (const std::size_t panels : {1, 2, 7, 8, 12, 32, 96, 165}) {
      for (const std::size_t threads : {1, 2, 3, 4, 16}) check(rows, panels, threads);
    }
  }
}

TEST(Matmul, CutFeedsEveryThread) {
  EXPECT_EQ(MatmulCut::of(64, 96, 8, 1).parts(), 1U);
  EXPECT_GE(MatmulCut::of(64, 96, 8, 2).parts(), 4U);
  EXPECT_GE(MatmulCut::of(512, 12, 8, 16).parts(), 32U);
  EXPECT_EQ(MatmulCut::of(10, 1, 8, 4).parts(), 1U);
}

TEST(Matmul, BitsDoNotDependOnThreads) {
  constexpr std::size_t kRows = 130;
  constexpr std::size_t kColumns = 101;
  constexpr std::size_t kDepth = 37;
  const kernels::KernelTable& table = **kernels::select_kernels("");
  const auto value = [](std::size_t i) { return static_cast<float>((i * 37 + 11) % 101) * 0.01F; };
  std::vector<float> a(kRows * kDepth);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = value(i) - 0.5F;
  const kernels::LinearKernels& linear = table.exact();
  const std::size_t panels = kernels::panel_count(linear, kColumns, false);
  std::vector<float> packed(panels * linear.panel_columns * kDepth);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = value(3 * i);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(threads);
    const std::size_t scratch_bytes = linear.scratch_bytes(kDepth);
    std::vector<std::byte> scratch(scratch_bytes * static_cast<std::size_t>(threads));
    std::vector<float>& c = results.emplace_back(kRows * kColumns);
    kernels::GemmArgs args;
    args.a = reinterpret_cast<const std::byte*>(a.data());
    args.a_stride = kDepth * sizeof(float);
    args.w = {&linear, reinterpret_cast<const std::byte*>(packed.data()), nullptr, kColumns, kDepth,
              false};
    args.c = c.data();
    args.ldc = kColumns;
    matmul(pool, args, kRows, {scratch.data(), scratch_bytes});
    EXPECT_EQ(c, results[0]) << threads;
  }
  EXPECT_NE(results[0][0], 0.0F);
}

}  // namespace
}  // namespace layard::backends::cpu
