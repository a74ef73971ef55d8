// The float32 matrix product against double precision: tails, blocking, epilogues, and bits that do
// not depend on how the work is split.
#include "kernels/test_product.h"

namespace layard::kernels {
namespace {

TEST(Kernels, GemmAllSmallTails) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t m = 1; m <= 16; ++m) {
      for (std::size_t n = 1; n <= 36; ++n) {
        for (const std::size_t k : {1, 2, 7, 17}) Product(*table, {m, n, k}, {}).check();
      }
    }
  }
}

TEST(Kernels, GemmEveryHeightWidthAndDepth) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t m = 1; m <= 70; ++m) Product(*table, {m, 33 + m % 7, 19}, {}).check();
    for (std::size_t n = 1; n <= 100; ++n) Product(*table, {3 + n % 13, n, 11}, {}).check();
    for (std::size_t k = 1; k <= 130; ++k)
      Product(*table, {5 + k % 11, 20 + k % 31, k}, {}).check();
  }
}

TEST(Kernels, GemmEpilogues) {
  using enum Activation;
  for (const KernelTable* table : test_tables()) {
    for (const Activation activation : {kNone, kRelu, kGelu, kGeluGate}) {
      for (const bool bias : {false, true}) {
        for (const bool residual : {false, true}) {
          for (const Shape shape : {Shape{7, 9, 5}, Shape{16, 32, 24}, Shape{29, 67, 40}}) {
            Product(*table, shape, {activation, bias, residual}).check();
          }
        }
      }
    }
  }
}

TEST(Kernels, GemmBeyondOneBlock) {
  for (const KernelTable* table : test_tables()) {
    Product(*table, {9, 40, 1030}, {Activation::kNone, true, true}).check();
    Product(*table, {515, 33, 20}, {}).check();
    Product(*table, {20, 300, 257}, {Activation::kRelu, true, false}).check();
  }
}

TEST(Kernels, GemmBitsDoNotDependOnTheSplit) {
  for (const KernelTable* table : test_tables()) {
    const Product product(*table, {61, 150, 300}, {Activation::kGeluGate, true, true});
    const std::vector<float> whole = product.run();
    std::vector<IndexRange> rows;
    for (std::size_t i = 0; i < 61; ++i) rows.push_back({i, i + 1});
    std::vector<IndexRange> panels;
    for (std::size_t p = product.panels(); p-- > 0;) panels.push_back({p, p + 1});
    EXPECT_TRUE(same_bits(whole, product.run(rows, panels))) << table->name;
    EXPECT_TRUE(same_bits(whole, product.run({{0, 23}, {23, 61}}, {{0, product.panels()}})));
  }
}

TEST(Kernels, EmulatedEqualsAvx512Bits) {
  const KernelTable* real = find_kernels(Isa::kAvx512);
  if (real == nullptr) GTEST_SKIP() << "this processor has no AVX-512";
  for (const Shape shape : {Shape{31, 70, 300}, Shape{3, 5, 9}}) {
    const Epilogue epilogue{Activation::kGeluGate, true, true};
    EXPECT_TRUE(same_bits(Product(*real, shape, epilogue).run(),
                          Product(kEmulated512, shape, epilogue).run()));
  }
}

}  // namespace
}  // namespace layard::kernels
