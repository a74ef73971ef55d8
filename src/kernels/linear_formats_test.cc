// The 16-bit, split and int8 products against double precision, on every table and on emulated
// tiles.
#include "kernels/test_product.h"

namespace layard::kernels {
namespace {

/// The reduced formats, with values that each of them keeps exactly.
constexpr Product::Kind kExactKinds[] = {
    {LinearFormat::kFloat16Weights, Values::kHalf, 1e-6},
    {LinearFormat::kBFloat16Weights, Values::kBrain, 4e-7},
    {LinearFormat::kBFloat16, Values::kBrain, 4e-7},
    {LinearFormat::kInt8, Values::kIntegers, 4e-7},
};

TEST(Kernels, LinearFormatsAllSmallTails) {
  for (const KernelTable* table : format_tables()) {
    for (const Product::Kind& kind : kExactKinds) {
      for (const std::size_t m : {1, 2, 13, 15, 16, 17, 31, 32, 33}) {
        for (const std::size_t n : {1, 7, 8, 16, 17, 31, 32, 33}) {
          for (const std::size_t k : {1, 3, 4, 31, 33, 65}) {
            Product(*table, {m, n, k}, {}, kind).check();
          }
        }
      }
    }
  }
}

TEST(Kernels, LinearFormatsEveryHeightAndDepth) {
  for (const KernelTable* table : format_tables()) {
    for (const Product::Kind& kind : kExactKinds) {
      for (std::size_t m = 1; m <= 70; ++m) Product(*table, {m, 9 + m % 29, 19}, {}, kind).check();
      for (std::size_t k = 1; k <= 130; ++k) {
        Product(*table, {1 + k % 5, 5 + k % 31, k}, {}, kind).check();
      }
    }
  }
}

TEST(Kernels, LinearFormatsEpiloguesAndBlocks) {
  using enum Activation;
  for (const KernelTable* table : format_tables()) {
    for (const Product::Kind& kind : kExactKinds) {
      for (const Activation activation : {kNone, kRelu, kGelu, kGeluGate}) {
        Product(*table, {18, 37, 40}, {activation, true, true}, kind).check();
      }
      Product(*table, {3, 40, 2100}, {kNone, true, true}, kind).check();
      Product(*table, {263, 33, 20}, {}, kind).check();
      Product(*table, {5, 600, 70}, {kRelu, true, false}, kind).check();
    }
  }
}

// Rounding of any rows: the split has 16 bits of each factor, bfloat16 8, int8 the 63rd or 127th
// part of the largest after rotation.
TEST(Kernels, LinearFormatsOnAnyValues) {
  constexpr Product::Kind kKinds[] = {
      {LinearFormat::kFloat16Weights, Values::kReal, 1e-3},
      {LinearFormat::kBFloat16Weights, Values::kReal, 8e-3},
      {LinearFormat::kBFloat16, Values::kReal, 8e-3},
      {LinearFormat::kInt8, Values::kReal, 2e-2},
  };
  for (const KernelTable* table : format_tables()) {
    for (const Product::Kind& kind : kKinds) Product(*table, {21, 50, 500}, {}, kind).check();
  }
}

TEST(Kernels, LinearFormatBitsDoNotDependOnTheSplit) {
  for (const KernelTable* table : format_tables()) {
    for (const Product::Kind& kind : kExactKinds) {
      const Product product(*table, {61, 90, 300}, {Activation::kGeluGate, true, true},
                            {kind.format, Values::kReal, 1});
      const std::vector<float> whole = product.run();
      const std::size_t step = table->of(kind.format).row_step;
      std::vector<IndexRange> rows;
      for (std::size_t i = 0; i < 61; i += step)
        rows.push_back({i, std::min<std::size_t>(i + step, 61)});
      std::vector<IndexRange> panels;
      for (std::size_t p = product.panels(); p-- > 0;) panels.push_back({p, p + 1});
      EXPECT_TRUE(same_bits(whole, product.run(rows, panels))) << table->name;
      // A row's own bits do not depend on how many rows there are.
      for (const std::size_t m : {1, 2, 16, 17, 31, 33, 60}) {
        const std::vector<float> front = product.run({{0, m}}, {{0, product.panels()}});
        EXPECT_TRUE(
            std::equal(front.begin(), front.begin() + static_cast<long>(m * 90), whole.begin()))
            << table->name << " " << m;
      }
    }
  }
}

// 16-bit weights are widened exactly, so vector tables give the bits of float32 panels.
TEST(Kernels, HalfWeightsEqualFloat32Bits) {
  for (const KernelTable* table : format_tables()) {
    if (table->of(LinearFormat::kFloat16Weights).prepare != nullptr) continue;  // tiles
    const Epilogue epilogue{Activation::kGelu, true, true};
    for (const auto& [format, values] :
         {std::pair{LinearFormat::kFloat16Weights, Values::kHalf},
          std::pair{LinearFormat::kBFloat16Weights, Values::kBrain}}) {
      const Product::Kind half{format, values, 0};
      const Product::Kind wide{LinearFormat::kFloat32, values, 0};
      EXPECT_TRUE(same_bits(Product(*table, {19, 70, 600}, epilogue, half).run(),
                            Product(*table, {19, 70, 600}, epilogue, wide).run()))
          << table->name;
    }
  }
}

/// Products of one row with columns of `linear`, all of the row's depth.
std::vector<float> row_product(const LinearKernels& linear, const std::vector<float>& row,
                               const std::vector<const void*>& columns) {
  const AlignedBytes packed(linear.panel_bytes(row.size()));
  const AlignedBytes operand(linear.operand_bytes(1, row.size()));
  const AlignedBytes scratch(linear.scratch_bytes(row.size()));
  linear.pack_panel(columns.data(), ElementType::kFloat32, row.size(), packed.data());
  linear.prepare(row.data(), row.size(), 0, operand.data());
  std::vector<float> c(columns.size());
  GemmArgs args;
  args.a = operand.data();
  args.w = {&linear, packed.data(), nullptr, columns.size(), row.size(), false};
  args.c = c.data();
  args.ldc = columns.size();
  linear.gemm(args, {0, 1}, {0, 1}, scratch.data());
  return c;
}

// A single large value must not drown the others of its row, as it does without rotation: they
// would all round to zero.
TEST(Kernels, Int8KeepsSmallValuesBesideALargeOne) {
  constexpr std::size_t kDepth = 512;
  constexpr std::size_t kLarge = 200;
  std::vector<float> row = random_floats(kDepth, 10);
  row[kLarge] = 300.0F;
  for (const KernelTable* table : test_tables()) {
    const LinearKernels& linear = table->of(LinearFormat::kInt8);
    const std::size_t n = linear.panel_columns;
    std::vector<float> w = random_floats(n * kDepth, 11);
    for (std::size_t j = 0; j < n; ++j) w[j * kDepth + kLarge] = 0;
    std::vector<const void*> columns;
    for (std::size_t j = 0; j < n; ++j) columns.push_back(&w[j * kDepth]);
    const std::vector<float> c = row_product(linear, row, columns);
    double error = 0;
    double size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double expected = 0;
      for (std::size_t i = 0; i < kDepth; ++i) {
        expected += static_cast<double>(row[i]) * w[j * kDepth + i];
      }
      error += (c[j] - expected) * (c[j] - expected);
      size += expected * expected;
    }
    EXPECT_LT(error, 0.2 * size) << table->name;
  }
}

// A row that is not finite must not come out as numbers.
TEST(Kernels, Int8KeepsNan) {
  for (const KernelTable* table : format_tables()) {
    const LinearKernels& linear = table->of(LinearFormat::kInt8);
    for (const float bad : {kNan, std::numeric_limits<float>::infinity()}) {
      std::vector<float> row = random_floats(100, 9);
      row[57] = bad;
      const AlignedBytes operand(linear.operand_bytes(1, row.size()));
      linear.prepare(row.data(), row.size(), 0, operand.data());
      float scale = 0;
      std::memcpy(&scale, operand.data(), sizeof(scale));
      EXPECT_TRUE(std::isnan(scale)) << table->name;
    }
  }
}

TEST(Kernels, EmulatedPairsEqualAvx512Bits) {
#if defined(__x86_64__)
  const KernelTable* real = find_kernels(Isa::kAvx512);
  if (real != &avx512_bf16_kernels()) GTEST_SKIP() << "this processor has no AVX-512 BF16";
  const Product::Kind kind{LinearFormat::kBFloat16, Values::kReal, 1};
  for (const Shape shape : {Shape{37, 70, 1300}, Shape{3, 5, 9}}) {
    const Epilogue epilogue{Activation::kNone, true, true};
    EXPECT_TRUE(same_bits(Product(*real, shape, epilogue, kind).run(),
                          Product(kEmulatedPairs, shape, epilogue, kind).run()));
  }
#else
  GTEST_SKIP() << "not this processor's family";
#endif
}

TEST(Kernels, EmulatedWordsEqualAvx2Bits) {
#if defined(__x86_64__)
  const KernelTable* real = find_kernels(Isa::kAvx2);
  if (real == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  const Product::Kind kind{LinearFormat::kInt8, Values::kReal, 1};
  for (const Shape shape : {Shape{37, 70, 1300}, Shape{3, 5, 9}, Shape{7, 16, 64}}) {
    const Epilogue epilogue{Activation::kNone, true, true};
    EXPECT_TRUE(same_bits(Product(*real, shape, epilogue, kind).run(),
                          Product(kEmulatedWords, shape, epilogue, kind).run()));
  }
#else
  GTEST_SKIP() << "not this processor's family";
#endif
}

// The largest sums that rows and columns can make are exact, whatever they are made of: all signs
// alike, one large value among small ones, the deepest k.
TEST(Kernels, WordSumsNeverOverflow) {
  constexpr std::size_t kDepth = kInt8DepthMax;
  std::vector<float> flat(kDepth, 0.0F);
  // Blocks that rotate to one value everywhere.
  for (std::size_t i = 0; i < kDepth; i += kRotation) flat[i] = rotation_sign(0);
  std::vector<float> peaked = flat;
  for (std::size_t i = 0; i < kRotation; ++i) peaked[i] = rotation_sign(i) * 50.0F;
  std::size_t tables = 0;
  for (const KernelTable* table : test_tables()) {
    const LinearKernels& linear = table->of(LinearFormat::kInt8);
    if (linear.name != "int8 in 16-bit pairs") continue;
    ++tables;
    const std::size_t n = linear.panel_columns;
    for (const std::vector<float>* column : {&flat, &peaked}) {
      const std::vector<const void*> columns(n, column->data());
      const std::vector<float> c = row_product(linear, flat, columns);
      double expected = 0;
      for (std::size_t i = 0; i < kDepth; ++i) {
        expected += static_cast<double>(flat[i]) * (*column)[i];
      }
      for (const float value : c) EXPECT_NEAR(value, expected, 0.1 * expected) << table->name;
    }
  }
  EXPECT_GT(tables, 0U);
}

TEST(Kernels, EmulatedTilesEqualAmxBits) {
  const KernelTable* real = find_kernels(Isa::kAmx);
  if (real == nullptr) GTEST_SKIP() << "this processor has no AMX";
  for (const Product::Kind& kind : kExactKinds) {
    for (const Shape shape : {Shape{37, 70, 300}, Shape{3, 5, 9}}) {
      const Epilogue epilogue{Activation::kGeluGate, true, true};
      const Product::Kind any{kind.format, Values::kReal, 1};
      EXPECT_TRUE(same_bits(Product(*real, shape, epilogue, any).run(),
                            Product(kEmulatedTiles, shape, epilogue, any).run()))
          << real->of(kind.format).name;
    }
  }
}

}  // namespace
}  // namespace layard::kernels
