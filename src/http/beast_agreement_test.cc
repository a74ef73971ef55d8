// Beast as the judge of our reading: what our checks accept, Beast accepts too and understands
// alike.
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <random>
#include <string>

#include "http/request_checks.h"
#include "support/hostile_requests.h"

namespace layard::http {
namespace {

namespace beast_http = boost::beast::http;

// `head` is what HeadScanner delimits.
void check_agreement(std::string_view head, const RequestHead& ours) {
  beast_http::request_parser<beast_http::buffer_body> parser;
  parser.header_limit(64 * 1024);
  parser.body_limit(boost::none);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  ASSERT_TRUE(!error || error == beast_http::error::need_more ||
              error == beast_http::error::need_buffer)
      << error.message() << "\n"
      << head;
  ASSERT_TRUE(parser.is_header_done()) << head;
  const auto& theirs = parser.get();
  EXPECT_EQ(theirs.method_string(), ours.request.method);
  EXPECT_EQ(theirs.target(), ours.request.target);
  EXPECT_EQ(theirs.version(), 10U + static_cast<unsigned>(ours.request.version_minor));
  EXPECT_EQ(parser.chunked(), ours.framing == BodyFraming::kChunked) << head;
  if (ours.framing == BodyFraming::kLength) {
    ASSERT_TRUE(parser.content_length().has_value()) << head;
    EXPECT_EQ(*parser.content_length(), ours.content_length) << head;
  }
  // To HTTP/1.0 Beast keeps alive whoever asks; we close when `close` is asked for as well.
  EXPECT_TRUE(parser.keep_alive() || !ours.keep_alive) << head;
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& field : theirs) ++count;
  ASSERT_EQ(count, ours.request.fields.size()) << head;
  for (const Field& field : ours.request.fields.all()) {
    const auto range = theirs.equal_range(field.name);
    const bool found = std::any_of(range.first, range.second, [&](const auto& their) {
      return std::string_view(their.value().data(), their.value().size()) == field.value;
    });
    EXPECT_TRUE(found) << field.name << "\n" << head;
  }
}

// True when our checks accepted.
bool check(std::string_view bytes) {
  HeadScanner scanner({});
  if (scanner.scan(bytes) != HeadScanner::State::kDone) return false;
  const auto head = bytes.substr(scanner.begin(), scanner.end() - scanner.begin());
  const auto outcome = check_request_head(head, {});
  const auto* ours = std::get_if<RequestHead>(&outcome);
  if (ours == nullptr) return false;
  check_agreement(head, *ours);
  return true;
}

TEST(HttpBeastAgreement, HostileRequests) {
  int accepted = 0;
  for (const auto& row : testing::hostile_requests()) {
    // Refusals of a broken body come later.
    const bool ok = check(row.bytes);
    EXPECT_TRUE(ok || !row.answered) << row.name;
    accepted += ok ? 1 : 0;
  }
  EXPECT_GT(accepted, 5);
}

TEST(HttpBeastAgreement, ChangedRequests) {
  const std::vector<std::string> seeds = {
      "POST /v1/systemone?a=%20 HTTP/1.1\r\nHost: 127.0.0.1:8642\r\nContent-Length: 12\r\n"
      "Connection: keep-alive, x\r\nX-A: \t b c \t\r\nX-A:\r\n\r\n",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost: [::1]:80\r\nConnection: close\r\n\r\n",
      "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\nAccept: */*\r\n\r\n"};
  const std::vector<std::string> pieces = {"\r\n",
                                           " ",
                                           "\t",
                                           ":",
                                           ",",
                                           "\r",
                                           "\n",
                                           "0",
                                           "chunked",
                                           "Content-Length: 1\r\n",
                                           "Transfer-Encoding: chunked\r\n",
                                           "Host: a\r\n",
                                           ";",
                                           "\"",
                                           "HTTP/1.1",
                                           "\x80",
                                           "\xff",
                                           "identity",
                                           "Connection: close\r\n",
                                           "Connection: ,,close\r\n",
                                           "close",
                                           "%",
                                           "/"};
  std::mt19937 random(20240611);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  int accepted = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string bytes = seeds[below(seeds.size())];
    for (std::size_t changes = below(3) + 1; changes > 0; --changes) {
      const auto at = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, below(4) + 1);
          break;
        default:
          bytes.insert(at, pieces[below(pieces.size())]);
      }
    }
    if (check(bytes)) ++accepted;
    if (HasFatalFailure() || HasFailure()) FAIL() << "after " << i << " requests";
  }
  EXPECT_GT(accepted, 5000);  // else nothing was compared
}

}  // namespace
}  // namespace layard::http
