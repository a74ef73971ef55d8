#include "http/request_checks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/hostile_requests.h"
#include "support/request_walk.h"
#include "support/shared_dir.h"
#include "support/temp_dir.h"

namespace layard::http {
namespace {

using testing::RequestWalk;
using testing::walk_requests;

// However the bytes are cut, the same becomes of them.
void check_outcome(std::string_view name, std::string_view bytes, bool answered) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, bytes.size()}) {
    const RequestWalk walk = walk_requests(bytes, {.piece_bytes = piece});
    EXPECT_EQ(walk.refusal.has_value(), !answered) << name << " in pieces of " << piece;
    EXPECT_EQ(walk.requests.size(), answered ? 1U : 0U) << name << " in pieces of " << piece;
    for (const Request& request : walk.requests) {
      EXPECT_FALSE(request.fields.find("X-Hidden")) << name;
    }
    if (!walk.refusal) continue;
    EXPECT_GE(walk.refusal->status(), 400) << name;
    EXPECT_LT(walk.refusal->status(), 500) << name;
    EXPECT_FALSE(walk.refusal->message.empty()) << name;
  }
}

TEST(HttpRequestChecks, HostileRequests) {
  for (const auto& row : testing::hostile_requests()) {
    check_outcome(row.name, row.bytes, row.answered);
  }
}

TEST(HttpRequestChecks, RequestsThatBrokeOthers) {
  LAYARD_REQUIRE_SHARED(shared);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared / "bug-inputs" / "http")) {
    if (entry.path().extension() != ".raw") continue;
    const std::string name = entry.path().stem().string();
    check_outcome(name, testing::read_file(entry.path()), name.starts_with("ok-"));
    ++files;
  }
  EXPECT_GE(files, 22U);
}

// What a refusal is called, for the kinds where another name would mislead.
TEST(HttpRequestChecks, Reasons) {
  using enum RefusalReason;
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const auto check = [](const std::string& bytes, RefusalReason reason) {
    const RequestWalk walk = walk_requests(bytes, {});
    ASSERT_TRUE(walk.refusal.has_value()) << bytes.substr(0, 60);
    EXPECT_EQ(refusal_name(walk.refusal->reason), refusal_name(reason)) << bytes.substr(0, 60);
  };
  check("GET / HTTP/2.0\r\n\r\n", kVersion);
  check("GET /\r\n\r\n", kRequestLine);
  check("GET * HTTP/1.1\r\n\r\n", kTarget);
  check("GET /" + std::string(8192, 'a') + " HTTP/1.1\r\n\r\n", kTargetSize);
  check("GET / HTTP/1.1\r\n\r\n", kHost);
  check(get + "A\r\n\r\n", kField);
  check(get + "A: \x01\r\n\r\n", kControlByte);
  check(get + "Upgrade: websocket\r\n\r\n", kUpgrade);
  check(get + "Expect: a\r\n\r\n", kExpectation);
  check(get + "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n", kExpectation);
  check(get + "Content-Length: a\r\n\r\n", kContentLength);
  check(get + "Transfer-Encoding: gzip\r\n\r\n", kTransferEncoding);
  check(get + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\na", kContentEncoding);
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "A: 1\r\n";
  check(get + lines, kFieldCount);  // before the header's end
  check(get + "A: " + std::string(16 * 1024, 'a'), kHeadSize);
}

// The bounds themselves are allowed.
TEST(HttpRequestChecks, Bounds) {
  const HeadLimits limits;
  const auto accepted = [&](const std::string& bytes) {
    const RequestWalk walk = walk_requests(bytes, {.head = limits});
    return !walk.refusal && walk.requests.size() == 1;
  };
  std::string lines;
  for (std::size_t i = 1; i < limits.fields_max; ++i) lines += "A: 1\r\n";
  EXPECT_TRUE(accepted("GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"));
  EXPECT_TRUE(accepted("GET /" + std::string(limits.target_bytes_max - 1, 'a') +
                       " HTTP/1.1\r\nHost: a\r\n\r\n"));
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\nA: \r\n\r\n";
  head.insert(head.size() - 4, std::string(limits.head_bytes_max - head.size(), 'a'));
  ASSERT_EQ(head.size(), limits.head_bytes_max);
  EXPECT_TRUE(accepted(head));
  head.insert(head.size() - 4, "a");
  EXPECT_FALSE(accepted(head));
}

// Nothing later than its first wrong byte: a client that waits for an answer is not kept waiting.
TEST(HttpRequestChecks, RefusesAsEarlyAsItShows) {
  const auto check = [](std::string_view bytes) {
    HeadScanner scanner({});
    EXPECT_EQ(scanner.scan(bytes.substr(0, bytes.size() - 1)), HeadScanner::State::kMore) << bytes;
    EXPECT_EQ(scanner.scan(bytes), HeadScanner::State::kRefused) << bytes;
  };
  check("\x16");
  check("GET / HTTP/1.1\n");
  check("GET / HTTP/1.1\r\nA: \x02");
  check("GET / HTTP/1.1\r\nA: b\rc");
  check("\r\n\r\n");
}

TEST(HttpRequestChecks, FieldsAreTrimmedAndKept) {
  const RequestWalk walk = walk_requests(
      "PUT /a?b=%20 HTTP/1.1\r\nhost: A:1\r\nX-One:\t one two \t\r\nX-Empty:\r\nX-One: 2\r\n\r\n",
      {});
  ASSERT_EQ(walk.requests.size(), 1U);
  const Request& request = walk.requests[0];
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/a?b=%20");
  EXPECT_EQ(request.fields.size(), 4U);
  EXPECT_EQ(request.fields.find("x-one"), "one two");
  EXPECT_EQ(request.fields.find("x-empty"), "");
}

TEST(HttpRequestChecks, Wishes) {
  const auto check = [](const std::string& version, const std::string& fields, bool keep_alive,
                        bool expects) {
    const auto outcome = check_request_head(
        "GET / HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n", HeadLimits{});
    const auto* head = std::get_if<RequestHead>(&outcome);
    ASSERT_NE(head, nullptr) << fields;
    EXPECT_EQ(head->keep_alive, keep_alive) << version << fields;
    EXPECT_EQ(head->expects_continue, expects) << version << fields;
    EXPECT_EQ(head->request.version_minor, version == "1.1" ? 1 : 0);
  };
  check("1.1", "", true, false);
  check("1.1", "Connection: close\r\n", false, false);
  check("1.1", "Connection: keep-alive, Close\r\n", false, false);
  check("1.0", "", false, false);
  check("1.0", "Connection: Keep-Alive\r\n", true, false);
  check("1.1", "Expect: 100-Continue\r\n", true, true);
  check("1.0", "Expect: 100-continue\r\n", false, false);
}

TEST(HttpRequestChecks, PipelinedRequestsComeInOrder) {
  const std::string bytes =
      testing::hostile_post("Content-Length: 2\r\n", "{}") +
      testing::hostile_post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n") +
      std::string(testing::kHiddenRequest) + "GET";
  const RequestWalk walk = walk_requests(bytes, {});
  ASSERT_EQ(walk.requests.size(), 3U);
  EXPECT_EQ(walk.requests[0].body, "{}");
  EXPECT_EQ(walk.requests[1].body, "x");
  EXPECT_EQ(walk.requests[2].fields.find("X-Hidden"), "1");
  EXPECT_EQ(walk.bytes_left, 3U);
}

TEST(HttpRequestChecks, NothingAfterAClosingRequestIsRead) {
  const RequestWalk walk = walk_requests("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" +
                                             std::string(testing::kHiddenRequest),
                                         {});
  EXPECT_EQ(walk.requests.size(), 1U);
}

TEST(HttpRequestChecks, ContentCodings) {
  const auto check = [](std::vector<std::string> values, std::optional<ContentCoding> expected) {
    Fields fields;
    for (auto& value : values) fields.add("Content-Encoding", value);
    EXPECT_EQ(content_coding(fields), expected);
  };
  check({}, ContentCoding::kIdentity);
  check({"identity"}, ContentCoding::kIdentity);
  check({"GZIP"}, ContentCoding::kGzip);
  check({"x-gzip"}, ContentCoding::kGzip);
  check({"zstd"}, ContentCoding::kZstd);
  check({"br"}, std::nullopt);
  check({""}, std::nullopt);
  check({"gzip, zstd"}, std::nullopt);
  check({"gzip", "zstd"}, std::nullopt);
}

}  // namespace
}  // namespace layard::http
