#include "base/event_log.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

std::string lines(LogFormat format, LogLevel least) {
  std::string out;
  const EventLog log(format, least, [&](std::string_view level, std::string_view line) {
    out += std::string(level) + "|" + std::string(line) + "\n";
  });
  log.event(LogLevel::kInfo, "request",
            {{"id", JsonValue::string("a\"b")}, {"status", JsonValue::integer(200)}});
  log.event(LogLevel::kWarning, "draining", {});
  log.message("warning", "a \"word\"");
  return out;
}

TEST(EventLogTest, Text) {
  EXPECT_EQ(lines(LogFormat::kText, LogLevel::kInfo),
            "info|request id=\"a\\\"b\" status=200\n"
            "warning|draining\n"
            "warning|a \"word\"\n");
}

TEST(EventLogTest, Json) {
  EXPECT_EQ(lines(LogFormat::kJson, LogLevel::kInfo),
            "info|\"event\":\"request\",\"id\":\"a\\\"b\",\"status\":200\n"
            "warning|\"event\":\"draining\"\n"
            "warning|\"event\":\"message\",\"message\":\"a \\\"word\\\"\"\n");
}

TEST(EventLogTest, LeastLevel) {
  EXPECT_EQ(lines(LogFormat::kText, LogLevel::kWarning),
            "warning|draining\n"
            "warning|a \"word\"\n");
  const EventLog silent(LogFormat::kText, LogLevel::kDebug, nullptr);
  EXPECT_FALSE(silent.wants(LogLevel::kError));
  silent.event(LogLevel::kError, "request", {});
  silent.message("error", "text");
}

}  // namespace
}  // namespace layard::base
