#include "http/response_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::http {
namespace {

std::variant<ReceivedHead, Refusal> check(const std::string& head, bool to_head = false) {
  return check_response_head(head, {}, to_head);
}

ReceivedHead good(const std::string& head, bool to_head = false) {
  const auto result = check(head, to_head);
  if (const auto* bad = std::get_if<Refusal>(&result)) {
    ADD_FAILURE() << bad->message;
    return {};
  }
  return std::get<ReceivedHead>(result);
}

RefusalReason bad(const std::string& head) {
  const auto result = check(head);
  if (const auto* refusal = std::get_if<Refusal>(&result)) return refusal->reason;
  ADD_FAILURE() << "accepted: " << head;
  return RefusalReason::kUnanswered;
}

TEST(HttpResponseChecks, ReadsAHead) {
  const auto head = good("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.version_minor, 1);
  EXPECT_EQ(head.fields.value_or_empty("a"), "b");
  EXPECT_EQ(head.body, ResponseBody::kLength);
  EXPECT_EQ(head.content_length, 5U);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.is_interim());
}

TEST(HttpResponseChecks, ReasonsMayBeAnything) {
  EXPECT_EQ(good("HTTP/1.1 404\r\n\r\n").status, 404);
  EXPECT_EQ(good("HTTP/1.1 404 \r\n\r\n").status, 404);
  EXPECT_EQ(good("HTTP/1.0 599 Not \t there \xc3\xa9\r\n\r\n").status, 599);
}

TEST(HttpResponseChecks, RefusesOtherStatusLines) {
  for (const std::string line : {"HTTP/1.1  200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000", "HTTP/1.1",
                                 "HTTP/1.1 ", "HTTP/1.1 600 No", "HTTP/1.1 099 No", "HTTP/1.1 +20",
                                 "ICY 200 OK", "http/1.1 200 OK", "HTTP/1.1 200\xc3"}) {
    EXPECT_EQ(bad(line + "\r\n\r\n"), RefusalReason::kRequestLine) << line;
  }
  for (const std::string version : {"HTTP/2", "HTTP/1.2", "HTTP/1.10", "HTTP/0.9", "HTTP/1"}) {
    EXPECT_EQ(bad(version + " 200 OK\r\n\r\n"), RefusalReason::kVersion) << version;
  }
  EXPECT_EQ(bad("HTTP/1.1 200 O\nK\r\n\r\n"), RefusalReason::kControlByte);
  EXPECT_EQ(bad("HTTP/1.1 200 OK"), RefusalReason::kRequestLine);
}

TEST(HttpResponseChecks, RefusesWhatTwoReadersCouldRead) {
  const std::string line = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(bad(line + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            RefusalReason::kTransferEncoding);
  EXPECT_EQ(bad(line + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"),
            RefusalReason::kContentLength);
  EXPECT_EQ(bad(line + "A: b\r\n c\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(bad("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            RefusalReason::kTransferEncoding);
  EXPECT_EQ(bad("HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
            RefusalReason::kUpgrade);
  EXPECT_EQ(bad(line + "Connection: a b\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(bad("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n"),
            RefusalReason::kContentLength);
  EXPECT_EQ(bad("HTTP/1.1 204 No\r\nContent-Length: 1\r\n\r\n"), RefusalReason::kContentLength);
  EXPECT_EQ(bad("HTTP/1.1 100 Go\r\nContent-Length: 1\r\n\r\n"), RefusalReason::kContentLength);
}

TEST(HttpResponseChecks, SaysHowTheBodyEnds) {
  EXPECT_EQ(good("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").body, ResponseBody::kNone);
  EXPECT_EQ(good("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").body,
            ResponseBody::kChunked);
  const auto until_close = good("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(until_close.body, ResponseBody::kUntilClose);
  EXPECT_FALSE(until_close.keep_alive);
  EXPECT_EQ(good("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n").body, ResponseBody::kNone);
  const auto no_content = good("HTTP/1.1 204 No\r\n\r\n");
  EXPECT_EQ(no_content.body, ResponseBody::kNone);
  EXPECT_TRUE(no_content.keep_alive);
  EXPECT_EQ(good("HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n").body, ResponseBody::kNone);
  const auto to_head = good("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true);
  EXPECT_EQ(to_head.body, ResponseBody::kNone);
  EXPECT_TRUE(to_head.keep_alive);
  EXPECT_TRUE(good("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n").is_interim());
  EXPECT_FALSE(
      good("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n").keep_alive);
}

}  // namespace
}  // namespace layard::http
