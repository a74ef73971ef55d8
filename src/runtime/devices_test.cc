#include "runtime/devices.h"

#include <gtest/gtest.h>

namespace layard::runtime {
namespace {

TEST(Devices, NamesAndReasons) {
  const auto check = [](const char* name, const char* reason) {
    const auto choice = choose_device(name);
    ASSERT_TRUE(choice.ok()) << name;
    EXPECT_EQ(choice->reason, reason);
  };
  check("auto", "npu_runtime_unavailable");
  check("cpu", "cpu_requested");
  check("gpu", "gpu_requested");
  check("npu", "npu_requested");
  check("ane", "npu_requested");
  EXPECT_EQ(choose_device("GPU").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(choose_device("").error().code, ErrorCode::kInvalidRequest);
}

TEST(Devices, AbsentBackendsAreNamed) {
  const auto check = [](const char* device, const char* part) {
    const Status status = require_runnable(*choose_device(device));
    ASSERT_FALSE(status.ok()) << device;
    EXPECT_EQ(status.error().code, ErrorCode::kBackendUnavailable);
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  check("gpu", "backend_mlx.so");
  check("npu", "backend_openvino.so");
  EXPECT_TRUE(require_runnable(*choose_device("cpu")).ok());
  EXPECT_TRUE(require_runnable(*choose_device("auto")).ok());
}

TEST(Devices, OptionsOutOfRange) {
  ModelOptions options;
  EXPECT_TRUE(check_options(options).ok());
  options.dtype = "float64";
  EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
  options.dtype = "float32";
  options.environment.threads = 5000;
  EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
  options.environment.threads = 0;
  for (const int entries : {-5, -1, (1 << 20) + 1}) {
    options.environment.token_cache_entries = entries;
    EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(check_options(options).error().message,
              "token_cache_entries is " + std::to_string(entries) + "; give 0 to 1048576");
  }
  options.environment.token_cache_entries = 1 << 20;
  EXPECT_TRUE(check_options(options).ok());
  options.environment.force_isa = "sse9";
  EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
}

TEST(Devices, UnknownKernelsAreNamed) {
  Environment environment;
  EXPECT_TRUE(choose_kernels(environment).ok());
  environment.force_isa = "scalar";
  EXPECT_EQ((*choose_kernels(environment))->name, std::string_view("scalar"));
  environment.force_isa = "Scalar";
  EXPECT_EQ((*choose_kernels(environment))->name, std::string_view("scalar"));
  environment.force_isa = "sse9";
  const auto unknown = choose_kernels(environment);
  ASSERT_FALSE(unknown.ok());
  for (const char* part : {"LAYARD_FORCE_ISA", "--isa", "\"sse9\"", "scalar"}) {
    EXPECT_NE(unknown.error().message.find(part), std::string::npos) << unknown.error().message;
  }
}

}  // namespace
}  // namespace layard::runtime
