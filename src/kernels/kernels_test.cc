#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include "kernels/test_tables.h"

namespace layard::kernels {
namespace {

TEST(Kernels, NamesRoundTrip) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  }
  EXPECT_EQ(parse_isa("sse9"), std::nullopt);
  EXPECT_EQ(parse_isa(""), std::nullopt);
}

TEST(Kernels, ForcedIsaIsTaken) {
  const KernelTable* tables[kIsas] = {};
  const std::size_t count = supported_kernels(tables);
  ASSERT_GE(count, 1U);
  EXPECT_EQ(tables[count - 1]->isa, Isa::kScalar);
  for (std::size_t i = 0; i < count; ++i) {
    const auto chosen = select_kernels(tables[i]->name);
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_EQ(*chosen, tables[i]);
    EXPECT_EQ((*chosen)->name, isa_name((*chosen)->isa));
  }
}

TEST(Kernels, UnknownOrForeignIsaIsRefused) {
  const auto unknown = select_kernels("sse9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(unknown.error().message.find("sse9"), std::string::npos);
#if defined(__aarch64__)
  const std::string_view foreign = "avx2";
#else
  const std::string_view foreign = "neon";
#endif
  const auto absent = select_kernels(foreign);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(absent.error().message.find("scalar"), std::string::npos);
  EXPECT_EQ(find_kernels(*parse_isa(foreign)), nullptr);
}

// Widest first, but only where a hardware record stands behind the code; forcing needs none.
TEST(Kernels, PrefersTheWidestWithARecord) {
  Isa expected = Isa::kScalar;
  for (const Isa isa : {Isa::kNeon, Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) {
    if (isa_supported(isa) && isa_recorded(isa)) expected = isa;
  }
  EXPECT_EQ((*select_kernels(""))->isa, expected);
  for (const Isa isa : {Isa::kScalar, Isa::kNeon, Isa::kAvx2, Isa::kAvx512, Isa::kAmx}) {
    if (!isa_supported(isa)) continue;
    EXPECT_EQ((*select_kernels(isa_name(isa)))->isa, isa);
  }
  EXPECT_TRUE(isa_recorded(Isa::kScalar));
}

}  // namespace
}  // namespace layard::kernels
