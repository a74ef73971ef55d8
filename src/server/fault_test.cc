#include "server/fault.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

constexpr const char* kSecret = "/srv/models/laya is broken";

void check(ErrorCode code, const FailedModel& model, const Fault& expected) {
  EXPECT_EQ(fault_of({code, kSecret}, model), expected) << error_type_name(code);
}

TEST(ServerFault, StatusOfEveryError) {
  const FailedModel laya{"laya", true};
  const Fault no_laya{503,
                      "model laya is unavailable on this server; `layard download laya` on its "
                      "machine fetches it"};
  check(ErrorCode::kInvalidRequest, laya, {422, kSecret});
  check(ErrorCode::kUnsupportedShape, laya, {422, kSecret});
  check(ErrorCode::kOverloaded, laya, {503, kSecret});
  check(ErrorCode::kCancelled, laya,
        {503, "the server is shutting down; try again elsewhere or later"});
  check(ErrorCode::kIo, laya, {500, "inference failed"});
  check(ErrorCode::kInternal, laya, {500, "inference failed"});
  for (const ErrorCode code :
       {ErrorCode::kUnsupportedModel, ErrorCode::kBackendUnavailable, ErrorCode::kArtifact,
        ErrorCode::kArtifactMissing, ErrorCode::kArtifactRevision, ErrorCode::kArtifactIntegrity,
        ErrorCode::kArtifactParity, ErrorCode::kComputeUnitMismatch}) {
    check(code, laya, no_laya);
    check(code, {"mine", false}, {503, "model mine is unavailable on this server"});
    check(code, {}, {503, "the model is unavailable on this server"});
  }
}

// Only a checkpoint whose name the server itself chose is reported as its own fault.
TEST(ServerFault, StatusIsThatOfTheTable) {
  for (const ErrorInfo& info : error_table()) {
    const int expected = info.code == ErrorCode::kUnsupportedModel ? 503 : info.http_status;
    EXPECT_EQ(fault_of({info.code, "text"}, {}).status, expected) << info.type_name;
  }
}

TEST(ServerFault, TextsAreBounded) {
  const Fault fault = fault_of({ErrorCode::kInvalidRequest, std::string(1 << 20, 'x')}, {});
  EXPECT_EQ(fault.detail, std::string(2000, 'x') + "...");
}

TEST(ServerFault, Response) {
  const http::Response refused = fault_response({422, "say \"no\"\n"}, 5);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body, R"({"detail":"say \"no\"\n"})");
  EXPECT_EQ(refused.fields.value_or_empty("content-type"), "application/json");
  EXPECT_EQ(refused.fields.value_or_empty("cache-control"), "no-store");
  EXPECT_FALSE(refused.fields.find("Retry-After").has_value());
}

void check_retry(int status, std::int64_t wait_ms, const char* ms, const char* seconds) {
  const http::Response response = fault_response({status, "busy"}, wait_ms);
  EXPECT_EQ(response.fields.value_or_empty("retry-after-ms"), ms) << wait_ms;
  EXPECT_EQ(response.fields.value_or_empty("Retry-After"), seconds) << wait_ms;
}

TEST(ServerFault, RetryAfter) {
  check_retry(503, 1, "1", "1");
  check_retry(503, 0, "1", "1");
  check_retry(429, 1000, "1000", "1");
  check_retry(503, 1001, "1001", "2");
}

TEST(ServerFault, Shortened) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc...");
  EXPECT_EQ(shortened("ab\xC3\xA9", 3), "ab...");  // é is not cut in two
}

}  // namespace
}  // namespace layard::server
