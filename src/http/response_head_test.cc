#include "http/response_head.h"

#include <gtest/gtest.h>

namespace layard::http {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

Response sample() {
  Response response = make_response(200, "text/plain", "hello");
  return response;
}

TEST(HttpResponseHead, Framings) {
  const auto check = [](ResponseHeadOptions options, std::string_view end) {
    options.date = kDate;
    const auto head = write_response_head(sample(), options);
    EXPECT_EQ(head.bytes, "HTTP/1.1 200 OK\r\nDate: " + std::string(kDate) +
                              "\r\nContent-Type: text/plain\r\n" + std::string(end) + "\r\n");
    EXPECT_EQ(head.fields_dropped, 0U);
  };
  check({}, "Content-Length: 5\r\n");
  check({.close = true}, "Content-Length: 5\r\nConnection: close\r\n");
  check({.say_keep_alive = true}, "Content-Length: 5\r\nConnection: keep-alive\r\n");
  check({.framing = ResponseFraming::kChunked}, "Transfer-Encoding: chunked\r\n");
  check({.framing = ResponseFraming::kClose, .close = true}, "Connection: close\r\n");
  check({.framing = ResponseFraming::kNoBody}, "");
}

TEST(HttpResponseHead, ServersOwnFieldsAreWrittenOnce) {
  Response response = sample();
  for (const char* name :
       {"date", "Content-Length", "TRANSFER-ENCODING", "Connection", "keep-alive"}) {
    response.fields.add(name, "x");
  }
  EXPECT_EQ(write_response_head(response, {.date = kDate}).bytes,
            write_response_head(sample(), {.date = kDate}).bytes);
}

TEST(HttpResponseHead, NothingCanBeSmuggledIntoTheHead) {
  Response response = sample();
  response.fields.add("X-A", "1\r\nX-B: 2");
  response.fields.add("X-A\r\nX-B", "1");
  response.fields.add("X A", "1");
  response.fields.add("", "1");
  response.fields.add("X-C", std::string("a\0b", 3));
  const auto head = write_response_head(response, {.date = kDate});
  EXPECT_EQ(head.bytes, write_response_head(sample(), {.date = kDate}).bytes);
  EXPECT_EQ(head.fields_dropped, 5U);
}

TEST(HttpResponseHead, ImpossibleStatusIs500) {
  Response response = sample();
  for (const int status : {0, -1, 99, 600, 1000}) {
    response.status = status;
    EXPECT_TRUE(write_response_head(response, {})
                    .bytes.starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
  }
}

TEST(HttpResponseHead, Chunks) {
  std::string out;
  append_chunk(out, "0123456789abcdef");
  append_chunk(out, "");
  append_chunk(out, "x");
  EXPECT_EQ(out, "10\r\n0123456789abcdef\r\n1\r\nx\r\n");
}

TEST(HttpResponseHead, Dates) {
  const auto check = [](std::int64_t time, std::string_view expected) {
    EXPECT_EQ(http_date(time), expected);
  };
  check(784'111'777, kDate);
  check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
  check(1'709'210'096, "Thu, 29 Feb 2024 12:34:56 GMT");
  check(-5, "Thu, 01 Jan 1970 00:00:00 GMT");
  check(253'402'300'799, "Fri, 31 Dec 9999 23:59:59 GMT");
  check(INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
}

}  // namespace
}  // namespace layard::http
