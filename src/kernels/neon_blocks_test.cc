// NEON's blocks: which of them a processor gets, the bits of BFMMLA by Arm's rules, and that their
// emulation and the instructions agree. LinearFormats tests check indexing, tails and order.
#include <cstdlib>

#include "kernels/test_product.h"
#include "kernels/test_tables.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace layard::kernels {
namespace {

TEST(NeonBlocks, FeaturesFromTheSystemsBits) {
  constexpr unsigned long kInt8 = 0x2000;
  constexpr unsigned long kBFloat16 = 0x4000;
  constexpr struct {
    unsigned long hwcap2;
    std::string_view variant;
  } kRows[] = {{0, "neon"},
               {~(kInt8 | kBFloat16), "neon"},
               {kInt8, "neon+i8mm"},
               {kBFloat16, "neon+bf16"},
               {kInt8 | kBFloat16, "neon+bf16+i8mm"},
               {~0UL, "neon+bf16+i8mm"}};
  for (const auto& row : kRows) {
    EXPECT_EQ(neon_variant(neon_features(row.hwcap2)), row.variant) << row.hwcap2;
  }
}

// Packed weights and parity records carry this hash: a processor that gets other kernels of the
// same code must not take them for its own.
TEST(Kernels, VariantsHaveTheirOwnHash) {
  std::vector<std::string_view> hashes;
  for (const std::string_view variant : {"scalar", "avx2", "avx512", "avx512+vnni", "amx", "neon",
                                         "neon+bf16", "neon+i8mm", "neon+bf16+i8mm"}) {
    const std::string_view hash = code_hash(variant);
    EXPECT_EQ(hash.size(), 16U) << variant;
    EXPECT_EQ(std::count(hashes.begin(), hashes.end(), hash), 0) << variant;
    hashes.push_back(hash);
  }
  EXPECT_EQ(code_hash("neon+sve"), "");
  std::string_view here = "avx512";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) here = "avx512+vnni";
#endif
  EXPECT_EQ(isa_code_hash(Isa::kAvx512), code_hash(here));
  EXPECT_EQ(isa_code_hash(Isa::kAvx2), code_hash("avx2"));
}

#if defined(__aarch64__)
TEST(NeonBlocks, TheTableHasWhatTheProcessorHas) {
  const NeonFeatures here = neon_features(getauxval(AT_HWCAP2));
  EXPECT_EQ(find_kernels(Isa::kNeon), &neon_kernels(here));
  EXPECT_EQ(isa_code_hash(Isa::kNeon), code_hash(neon_variant(here)));
  for (const bool bfloat16 : {false, true}) {
    for (const bool int8 : {false, true}) {
      const KernelTable& table = neon_kernels({bfloat16, int8});
      EXPECT_EQ(&table, &neon_kernels({bfloat16, int8}));
      EXPECT_EQ(table.name, "neon");
      EXPECT_EQ(table.of(LinearFormat::kBFloat16).name,
                bfloat16 ? "bfloat16 blocks" : "bfloat16 weights");
      EXPECT_EQ(table.of(LinearFormat::kInt8).name, int8 ? "int8 blocks" : "int8");
      EXPECT_EQ(table.exact().name, "float32");
    }
  }
}

// tools/cross_test.sh says what the processor that it emulates has.
TEST(NeonBlocks, TheProcessorIsTheOneThatWasAskedFor) {
  const char* expected = std::getenv("LAYARD_TEST_NEON");
  if (expected == nullptr) GTEST_SKIP() << "LAYARD_TEST_NEON does not say what is expected";
  EXPECT_EQ(neon_variant(neon_features(getauxval(AT_HWCAP2))), expected);
}
#endif

/// Tables with blocks in `format`: the emulated one, and this processor's if it has them.
std::vector<const KernelTable*> block_tables(LinearFormat format) {
  std::vector<const KernelTable*> tables;
  for (const KernelTable* table : format_tables()) {
    if (table->of(format).name == kEmulatedBlocks.of(format).name) tables.push_back(table);
  }
  return tables;
}

/// C = A W^T in bfloat16 for operands given as bits; any bits.
struct BitsProduct {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> w;

  std::vector<float> run(const KernelTable& table) const {
    const LinearKernels& linear = table.of(LinearFormat::kBFloat16);
    const std::size_t width = linear.panel_columns;
    const std::size_t panels = panel_count(linear, n, false);
    const AlignedBytes packed(panels * linear.panel_bytes(k));
    for (std::size_t p = 0; p < panels; ++p) {
      std::vector<const void*> rows(width);
      for (std::size_t c = 0; c < width && p * width + c < n; ++c)
        rows[c] = &w[(p * width + c) * k];
      linear.pack_panel(rows.data(), ElementType::kBFloat16, k,
                        packed.data() + p * linear.panel_bytes(k));
    }
    const AlignedBytes operands(linear.operand_bytes(m, k));
    std::vector<float> row(k);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t i = 0; i < k; ++i) {
        row[i] = std::bit_cast<float>(static_cast<std::uint32_t>(a[r * k + i]) << 16U);
      }
      linear.prepare(row.data(), k, r, operands.data());
    }
    constexpr float kUntouched = 12345.0F;
    std::vector<float> c((m + 1) * n, kUntouched);  // the other row of the last pair is no output
    const AlignedBytes scratch(linear.scratch_bytes(k));
    GemmArgs args;
    args.a = operands.data();
    args.w = {&linear, packed.data(), nullptr, n, k, false};
    args.c = c.data();
    args.ldc = n;
    linear.gemm(args, {0, m}, {0, panels}, scratch.data());
    for (std::size_t i = m * n; i < c.size(); ++i) EXPECT_EQ(c[i], kUntouched) << table.name;
    c.resize(m * n);
    return c;
  }
};

/// 2^power or a small multiple of it, in bfloat16.
std::uint16_t brain(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}

/// Eight products, as BFMMLA adds them: pairs, two pairs a step, two steps.
void check_rounding(std::string_view what, const std::vector<std::uint16_t>& a,
                    const std::vector<std::uint16_t>& w, std::uint32_t expected) {
  BitsProduct product{1, 1, 8, a, w};
  product.a.resize(8);
  product.w.resize(8);
  for (const KernelTable* table : block_tables(LinearFormat::kBFloat16)) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(product.run(*table)[0]), expected)
        << table->name << ": " << what;
  }
}

// Expected bits follow from the rules that neon_block_emulated-inl.h states.
TEST(NeonBlocks, BFloat16RoundsToOdd) {
  const std::uint16_t one = brain(1);
  const std::uint16_t tiny = brain(0x1p-15);  // squared: 2^-30, less than half a unit of 1
  check_rounding("exact", {brain(3), 0, brain(5)}, {brain(2), 0, brain(-1)}, 0x3F800000U);
  check_rounding("a pair above an even number", {one, tiny}, {one, tiny}, 0x3F800001U);
  check_rounding("a pair below an even number", {one, tiny}, {one, brain(-0x1p-15)}, 0x3F7FFFFFU);
  check_rounding("a negative pair", {brain(-1), tiny}, {one, brain(-0x1p-15)}, 0xBF800001U);
  check_rounding("a sum above an even number", {one, 0, tiny}, {one, 0, tiny}, 0x3F800001U);
  check_rounding("a sum over steps", {one, 0, 0, 0, tiny}, {one, 0, 0, 0, tiny}, 0x3F800001U);
  check_rounding("an odd number stays", {one, brain(0x1p-23), tiny}, {one, one, tiny}, 0x3F800001U);
  check_rounding("a far smaller term counts", {one, brain(0x1p-100)}, {one, one}, 0x3F800001U);
}

TEST(NeonBlocks, BFloat16AddsPairsInOrder) {
  const std::uint16_t one = brain(1);
  const std::uint16_t big = brain(0x1p30);  // one unit of it is 128
  const std::uint16_t minus = brain(-0x1p30);
  const std::vector<std::uint16_t> ones(8, one);
  check_rounding("a pair is added first", {one, 0, big, minus}, ones, 0x3F800000U);
  check_rounding("pairs follow each other", {big, 0, one, 0, minus}, ones, 0x43000000U);
  check_rounding("within a step too", {big, one, minus, 0}, ones, 0x43000000U);
  check_rounding("a step before the next", {big, 0, minus, 0, one}, ones, 0x3F800000U);
}

TEST(NeonBlocks, BFloat16AtTheEndsOfTheRange) {
  const std::uint16_t one = brain(1);
  const std::uint16_t infinity = 0x7F80;
  const std::uint16_t largest = 0x7F7F;  // 255 * 2^120
  check_rounding("a denormal factor is zero", {0x0040}, {brain(0x1p100)}, 0);
  check_rounding("a denormal product is zero", {brain(0x1p-70)}, {brain(0x1p-60)}, 0);
  check_rounding("a denormal sum is zero", {brain(0x1.8p-126), brain(-0x1p-126)}, {one, one}, 0);
  check_rounding("the smallest number", {brain(0x1p-100)}, {brain(0x1p-26)}, 0x00800000U);
  check_rounding("too large a product", {brain(0x1p64)}, {brain(-0x1p64)}, 0xFF800000U);
  check_rounding("too large a sum", {largest, largest}, {one, one}, 0x7F800000U);
  // 2^128 - 2^104 is the largest number, and odd: what lies above it but below 2^128 becomes it.
  check_rounding("just above the largest number",
                 {largest, brain(255 * 0x1p112), brain(255 * 0x1p104), 0, brain(0x1p80)},
                 {one, one, one, 0, one}, 0x7F7FFFFFU);
  check_rounding("infinity", {infinity, one}, {one, one}, 0x7F800000U);
  check_rounding("infinity times zero", {infinity}, {0}, 0x7FC00000U);
  check_rounding("infinity less infinity", {infinity, infinity}, {one, brain(-1)}, 0x7FC00000U);
  check_rounding("NaN loses its bits", {0xFFC1}, {one}, 0x7FC00000U);
}

TEST(NeonBlocks, EmulatedEqualBFloat16Bits) {
  if (block_tables(LinearFormat::kBFloat16).size() < 2) {
    GTEST_SKIP() << "this processor has no BFMMLA";
  }
  std::mt19937 random(11);
  std::uniform_int_distribution<int> any(0, 0xFFFF);
  std::uniform_int_distribution<int> near(0, 3 * 128);  // exponents around that of one
  std::size_t numbers = 0;
  for (int round = 0; round < 400; ++round) {
    BitsProduct product{6, 10, static_cast<std::size_t>(1 + round % 20), {}, {}};
    const auto draw = [&] {
      const int bits =
          round % 2 == 0 ? any(random) : 0x3F00 + near(random) + 0x8000 * (any(random) % 2);
      return static_cast<std::uint16_t>(bits);
    };
    for (std::size_t i = 0; i < product.m * product.k; ++i) product.a.push_back(draw());
    for (std::size_t i = 0; i < product.n * product.k; ++i) product.w.push_back(draw());
    const std::vector<float> expected = product.run(kEmulatedBlocks);
    for (const float value : expected) numbers += std::isfinite(value) && value != 0 ? 1 : 0;
    for (const KernelTable* table : block_tables(LinearFormat::kBFloat16)) {
      ASSERT_TRUE(same_bits(product.run(*table), expected)) << table->name << " " << round;
    }
  }
  EXPECT_GT(numbers, 12'000U);  // of 24,000: the rest is zero, infinity or NaN
}

TEST(NeonBlocks, EmulatedEqualTheWholeProduct) {
  for (const auto format : {LinearFormat::kBFloat16, LinearFormat::kInt8}) {
    if (block_tables(format).size() < 2) GTEST_SKIP() << "this processor has no BFMMLA or SMMLA";
    for (const Shape shape :
         {Shape{37, 70, 300}, Shape{3, 5, 9}, Shape{200, 5, 40}, Shape{6, 9, 2100}}) {
      const Epilogue epilogue{Activation::kGeluGate, true, true};
      const Product::Kind any{format, Values::kReal, 1};
      const std::vector<float> expected = Product(kEmulatedBlocks, shape, epilogue, any).run();
      for (const KernelTable* table : block_tables(format)) {
        EXPECT_TRUE(same_bits(Product(*table, shape, epilogue, any).run(), expected))
            << table->name << ", " << table->of(format).name;
      }
    }
  }
}

// The quantisation is that of int8-inl.h, sums are exact, and scales are applied alike.
TEST(NeonBlocks, Int8EqualsScalarBits) {
  const Product::Kind any{LinearFormat::kInt8, Values::kReal, 1};
  for (const Shape shape :
       {Shape{37, 70, 300}, Shape{3, 5, 9}, Shape{1, 8, 8}, Shape{9, 9, 2500}}) {
    const Epilogue epilogue{Activation::kNone, true, true};
    const std::vector<float> expected = Product(scalar_kernels(), shape, epilogue, any).run();
    for (const KernelTable* table : block_tables(LinearFormat::kInt8)) {
      EXPECT_TRUE(same_bits(Product(*table, shape, epilogue, any).run(), expected)) << table->name;
    }
  }
}

}  // namespace
}  // namespace layard::kernels
