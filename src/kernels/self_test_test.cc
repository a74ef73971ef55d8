#include <gtest/gtest.h>

#include "kernels/test_tables.h"

namespace layard::kernels {
namespace {

TEST(Kernels, SelfTestPasses) {
  for (const KernelTable* table : format_tables()) {
    const Status status = self_test(*table);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

// Each kernel in turn is replaced by one that computes something else.
void check_caught(const KernelTable& broken, std::string_view part) {
  const Status status = self_test(broken);
  ASSERT_FALSE(status.ok()) << part;
  EXPECT_EQ(status.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
}

TEST(Kernels, SelfTestCatchesABrokenKernel) {
  const KernelTable good = **select_kernels("");
  KernelTable broken = good;
  LinearKernels idle = good.exact();
  idle.gemm = [](const GemmArgs&, IndexRange, IndexRange, std::byte*) {};
  broken.linear[0] = &idle;
  check_caught(broken, "gemm gave");
  broken = good;
  broken.attention = [](const AttentionArgs&, IndexRange, float*) {};
  check_caught(broken, "attention");
  broken = good;
  broken.layer_norm = [](const NormArgs& args, const float*, float* out) {
    for (std::size_t i = 0; i < args.n; ++i) out[i] = __builtin_nanf("");
  };
  check_caught(broken, "layer norm");
  broken = good;
  broken.rope = [](const float*, const float*, std::size_t, std::size_t, float*) {};
  check_caught(broken, "rope");
  broken = good;
  broken.erf = broken.exp;
  check_caught(broken, "erf");
  broken = good;
  broken.widen = [](const void*, ElementType, std::size_t n, float* to) {
    for (std::size_t i = 0; i < n; ++i) to[i] = 0.0F;
  };
  check_caught(broken, "widen");
}

TEST(Kernels, SelfTestCatchesABrokenLinearFormat) {
  const KernelTable good = **select_kernels("");
  constexpr std::string_view kParts[] = {"gemm", "gemm with float16 weights",
                                         "gemm with bfloat16 weights", "gemm in bfloat16",
                                         "gemm in int8"};
  for (std::size_t format = 0; format < kLinearFormats; ++format) {
    KernelTable broken = good;
    LinearKernels wrong = *good.linear[format];
    // A product that leaves its output as it was.
    wrong.gemm = [](const GemmArgs&, IndexRange, IndexRange, std::byte*) {};
    broken.linear[format] = &wrong;
    check_caught(broken, kParts[format]);
  }
}

}  // namespace
}  // namespace layard::kernels
