#include "http/server_state.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/http_world.h"

namespace layard::http {
namespace {

TEST(HttpServerState, OptionsOutOfRangeAreNamed) {
  const auto check = [](std::string_view name, const std::function<void(ServerOptions&)>& change) {
    ServerOptions options;
    ASSERT_TRUE(check_options(options).ok());
    change(options);
    const auto status = check_options(options);
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_TRUE(status.error().message.starts_with(name)) << status.error().message;
  };
  check("port", [](auto& options) { options.port = 65536; });
  check("io_threads", [](auto& options) { options.io_threads = 0; });
  check("connections_max", [](auto& options) { options.connections_max = 0; });
  check("retry_after_s", [](auto& options) { options.retry_after_s = 0; });
  check("head.head_bytes_max", [](auto& options) { options.head.head_bytes_max = 100'000; });
  check("head.fields_max", [](auto& options) { options.head.fields_max = 0; });
  check("body_bytes_max", [](auto& options) { options.body_bytes_max = SIZE_MAX; });
  check("body_memory_bytes_max", [](auto& options) { options.body_memory_bytes_max = 0; });
  check("idle_ms", [](auto& options) { options.idle_ms = 0; });
  check("head_ms", [](auto& options) { options.head_ms = -1; });
  check("drain_ms", [](auto& options) { options.drain_ms = 1'000'000'000; });
}

TEST(HttpServerState, CountsByReasonAndStatus) {
  testing::ScriptedHandler handler;
  ServerState state(ServerOptions{}, handler);
  state.counters.count_refusal(RefusalReason::kUnanswered);
  state.counters.count_response(204);
  state.counters.count_response(503);
  const Counters counters = state.snapshot();
  EXPECT_EQ(counters.refused.back(), 1U);
  EXPECT_EQ(counters.responses[2], 1U);
  EXPECT_EQ(counters.responses[5], 1U);
}

TEST(HttpServerState, RefusalsAreOneLineOfTextByDefault) {
  testing::ScriptedHandler handler;
  const Response response = handler.refusal_response({RefusalReason::kHost, "which host"}, "/a");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body, "which host\n");
}

}  // namespace
}  // namespace layard::http
