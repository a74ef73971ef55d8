#include "runtime/service_options.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace layard::runtime {
namespace {

void check(const std::function<void(ServiceOptions&)>& change, const std::string& message) {
  ServiceOptions options;
  change(options);
  const Status status = check_service_options(options);
  if (message.empty()) {
    EXPECT_TRUE(status.ok()) << status.error().message;
    return;
  }
  ASSERT_FALSE(status.ok()) << message;
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(status.error().message.substr(0, message.size()), message);
}

TEST(ServiceOptions, RangesAreCheckedByTheServiceAndNamed) {
  check([](ServiceOptions&) {}, "");
  check([](ServiceOptions& o) { o.queue_requests_max = 0; },
        "service option queue_requests_max is 0; give 1 to 1000000");
  check([](ServiceOptions& o) { o.queue_requests_max = 1; }, "");
  check([](ServiceOptions& o) { o.queue_requests_max = 1'000'001; },
        "service option queue_requests_max is 1000001;");
  check([](ServiceOptions& o) { o.queue_tokens_max = 0; }, "service option queue_tokens_max is 0;");
  check([](ServiceOptions& o) { o.batch_tokens_max = -5; },
        "service option batch_tokens_max is -5; give 1 to 1099511627776");
  check([](ServiceOptions& o) { o.batch_requests_max = 0; },
        "service option batch_requests_max is 0;");
  check([](ServiceOptions& o) { o.idle_unload_s = -1; }, "service option idle_unload_s is -1");
  check([](ServiceOptions& o) { o.idle_unload_s = std::numeric_limits<double>::infinity(); },
        "service option idle_unload_s is inf;");
}

// What the service accepts, the scheduler accepts too; what it refuses is never told of a device.
TEST(ServiceOptions, OpenRefusesThem) {
  ServiceOptions options;
  options.queue_requests_max = 0;
  const auto service = DecisionService::open(options);
  ASSERT_FALSE(service.ok());
  EXPECT_NE(service.error().message.find("service option queue_requests_max is 0"),
            std::string::npos)
      << service.error().message;
}

}  // namespace
}  // namespace layard::runtime
