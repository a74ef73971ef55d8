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
  const auto check = [](const char* device, const char* dtype, const char* part) {
    const Status status = require_runnable(*choose_device(device), dtype);
    ASSERT_FALSE(status.ok()) << device;
    EXPECT_EQ(status.error().code, ErrorCode::kBackendUnavailable);
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  check("gpu", "float32", "backend_mlx.so");
  check("npu", "float32", "backend_openvino.so");
  check("cpu", "bfloat16", "bfloat16");
  EXPECT_TRUE(require_runnable(*choose_device("auto"), "float32").ok());
}

TEST(Devices, OptionsOutOfRange) {
  ModelOptions options;
  EXPECT_TRUE(check_options(options).ok());
  options.dtype = "float64";
  EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
  options.dtype = "float32";
  options.environment.threads = 5000;
  EXPECT_EQ(check_options(options).error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard::runtime
