#include "http/client_exchange.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/fake_client.h"

namespace layard::http {
namespace {

using testing::FakeWire;
using testing::kEmptyResponse;

class HttpClientExchange : public testing::FakeClient {};

TEST_F(HttpClientExchange, ReturnsTheHeadBeforeTheBody) {
  send();
  EXPECT_EQ(wire().sent, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  answer("HTTP/1.1 201 Made\r\nContent-Length: 5\r\nX: y\r\n\r");
  EXPECT_FALSE(result_);
  answer("\n");
  ASSERT_TRUE(result_);
  EXPECT_EQ(response().status, 201);
  EXPECT_EQ(response().fields.value_or_empty("x"), "y");
  EXPECT_TRUE(response().has_body);
  EXPECT_EQ(piece(), "(waits)");
  answer("he");
  EXPECT_EQ(read_->bytes, "he");
  answer("llo");
  EXPECT_EQ(piece(), "llo");
  EXPECT_EQ(piece(), "(end)");
  EXPECT_EQ(piece(), "(end)");
  EXPECT_EQ(client_->kept_connections(), 1U);
}

TEST_F(HttpClientExchange, EachTimeoutHasItsFault) {
  options_.head_ms = 1000;
  options_.idle_ms = 500;
  options_.write_ms = 200;
  send();
  answer("HTTP/1.1 200 OK\r\n");
  loop_.advance_ms(990);
  EXPECT_FALSE(result_);
  loop_.advance_ms(40);
  EXPECT_EQ(fault(), ClientFault::kHeadTimeout);
  EXPECT_TRUE(error().request_sent);
  EXPECT_TRUE(wire().closed);

  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", 1);
  EXPECT_EQ(piece(), "ab");
  loop_.advance_ms(10'000);  // nobody reads: nothing runs out
  EXPECT_EQ(piece(), "(waits)");
  loop_.advance_ms(490);
  EXPECT_FALSE(read_);
  answer("c", 1);
  EXPECT_EQ(piece(), "(waits)");
  loop_.advance_ms(490);  // each piece starts the time again
  EXPECT_FALSE(read_);
  loop_.advance_ms(40);
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error.fault, ClientFault::kIdleTimeout);
  EXPECT_EQ(piece(), "idle_timeout");
  EXPECT_TRUE(wire(1).closed);

  network_.on_connect = [](FakeWire& wire) { wire.window_bytes = 10; };
  send();
  loop_.advance_ms(180);
  EXPECT_FALSE(result_);
  loop_.advance_ms(50);
  EXPECT_EQ(fault(), ClientFault::kWriteTimeout);
  EXPECT_EQ(client_->open_connections(), 0U);
}

TEST_F(HttpClientExchange, TheTotalBoundsEveryStage) {
  options_.total_ms = 1000;
  network_.stalls = true;
  send();
  loop_.advance_ms(1050);
  EXPECT_EQ(fault(), ClientFault::kTotalTimeout);
  EXPECT_FALSE(error().request_sent);
  EXPECT_EQ(network_.dials_given_up, 1U);
  network_.stalls = false;
  send();
  answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0);
  for (int i = 0; i < 9; ++i) {
    answer("1\r\nx\r\n");
    EXPECT_EQ(piece(), "x");
    loop_.advance_ms(100);
  }
  EXPECT_EQ(piece(), "(waits)");
  loop_.advance_ms(150);
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error.fault, ClientFault::kTotalTimeout);
}

TEST_F(HttpClientExchange, ATotalThatRunsOutWhileNobodyReadsClosesToo) {
  options_.total_ms = 1000;
  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  loop_.advance_ms(1100);
  EXPECT_TRUE(wire().closed);
  EXPECT_EQ(piece(), "total_timeout");
}

TEST_F(HttpClientExchange, TheHeadsTimeBeginsAfterTheRequest) {
  options_.head_ms = 1000;
  options_.write_ms = 5000;
  network_.on_connect = [](FakeWire& wire) { wire.window_bytes = 10; };
  send();
  loop_.advance_ms(3000);
  EXPECT_FALSE(result_);
  wire().window_bytes = 1000;
  wire().poke();
  loop_.run();
  loop_.advance_ms(900);
  EXPECT_FALSE(result_);
  loop_.advance_ms(150);
  EXPECT_EQ(fault(), ClientFault::kHeadTimeout);
}

TEST_F(HttpClientExchange, DialFaultsKeepTheirNames) {
  const std::pair<DialFault, ClientFault> cases[] = {
      {DialFault::kUnresolved, ClientFault::kUnresolved},
      {DialFault::kRefused, ClientFault::kRefused},
      {DialFault::kUnreachable, ClientFault::kUnreachable},
      {DialFault::kTimeout, ClientFault::kConnectTimeout},
      {DialFault::kTls, ClientFault::kTls}};
  for (const auto& [dialled, expected] : cases) {
    network_.fault = dialled;
    send(post("x"));
    EXPECT_EQ(fault(), expected);
    EXPECT_FALSE(error().request_sent);
    EXPECT_NE(error().message.find("http://a.example:80"), std::string::npos);
    EXPECT_EQ(client_->open_connections(), 0U);
  }
}

TEST_F(HttpClientExchange, RefusesBadResponses) {
  const std::vector<std::string> heads = {
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
      "HTTP/1.1 200 OK\nA: b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
      "HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n",
      "\r\nHTTP/1.1 200 OK\r\n\r\n",
      "\x15\x03\x01",
      " HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: " + std::string(16 * 1024, 'a'),
  };
  std::size_t index = 0;
  for (const auto& head : heads) {
    send();
    answer(head, index);
    EXPECT_EQ(fault(), ClientFault::kBadResponse) << head.substr(0, 60);
    EXPECT_TRUE(wire(index).closed);
    ++index;
  }
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 101; ++i) many += "A: b\r\n";
  send();
  answer(many, index);
  EXPECT_EQ(fault(), ClientFault::kBadResponse);
  EXPECT_NE(error().message.find("100 header fields"), std::string::npos);
}

TEST_F(HttpClientExchange, SkipsInterimResponsesUpToABound) {
  options_.interim_max = 3;
  send();
  answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n");
  EXPECT_FALSE(result_);
  answer(std::string("HTTP/1.1 102 Wait\r\n\r\n") + kEmptyResponse);
  ASSERT_TRUE(result_);
  EXPECT_EQ(response().status, 200);
  EXPECT_FALSE(response().fields.find("Link"));
  send();
  for (int i = 0; i < 4; ++i) answer("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(fault(), ClientFault::kBadResponse);
}

TEST_F(HttpClientExchange, CutBodiesAreNotWholeOnes) {
  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd");
  close();
  EXPECT_EQ(piece(), "abcd");
  EXPECT_EQ(piece(), "cut_short");
  EXPECT_EQ(piece(), "cut_short");
  send();
  answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", 1);
  close(1);
  EXPECT_EQ(piece(), "a");
  EXPECT_EQ(piece(), "cut_short");
  send();
  answer("HTTP/1.1 200 OK\r\n\r\nabc", 2);
  EXPECT_EQ(piece(), "abc");
  close(2);
  EXPECT_EQ(piece(), "(end)");
  send();
  answer("HTTP/1.1 200 OK\r\n\r\nabc", 3);
  EXPECT_EQ(piece(), "abc");
  wire(3).client_reset = true;
  wire(3).poke();
  loop_.run();
  EXPECT_EQ(piece(), "cut_short");
}

TEST_F(HttpClientExchange, BadChunksAndTooLargeBodiesEndIt) {
  options_.body_bytes_max = 4;
  send();
  answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_EQ(piece(), "bad_response");
  EXPECT_TRUE(wire().closed);
  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", 1);
  EXPECT_EQ(piece(), "limit");
  EXPECT_TRUE(wire(1).closed);
}

TEST_F(HttpClientExchange, CancellationWorksAtEveryStage) {
  network_.stalls = true;
  std::stop_source at_dial;
  ClientRequest request;
  request.cancel = at_dial.get_token();
  send(request);
  at_dial.request_stop();
  loop_.run();
  EXPECT_EQ(fault(), ClientFault::kCancelled);
  EXPECT_EQ(network_.dials_given_up, 1U);
  network_.stalls = false;

  std::stop_source at_head;
  request.cancel = at_head.get_token();
  send(request);
  EXPECT_FALSE(result_);
  at_head.request_stop();
  loop_.run();
  EXPECT_EQ(fault(), ClientFault::kCancelled);
  EXPECT_TRUE(wire().closed);

  std::stop_source in_body;
  request.cancel = in_body.get_token();
  send(request);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 1);
  EXPECT_EQ(piece(), "(waits)");
  in_body.request_stop();
  loop_.run();
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error.fault, ClientFault::kCancelled);
  EXPECT_TRUE(wire(1).closed);

  std::stop_source between_reads;
  request.cancel = between_reads.get_token();
  send(request);
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 2);
  between_reads.request_stop();
  loop_.run();
  EXPECT_TRUE(wire(2).closed);
  EXPECT_EQ(piece(), "cancelled");

  send(request);  // before it began
  EXPECT_EQ(fault(), ClientFault::kCancelled);
  EXPECT_EQ(network_.dials, 4U);
  EXPECT_EQ(client_->open_connections(), 0U);
}

TEST_F(HttpClientExchange, ALateStopAfterTheEndChangesNothing) {
  std::stop_source stop;
  ClientRequest request;
  request.cancel = stop.get_token();
  send(request);
  answer(kEmptyResponse);
  stop.request_stop();
  loop_.run();
  EXPECT_EQ(piece(), "(end)");
  EXPECT_EQ(client_->kept_connections(), 1U);
}

TEST_F(HttpClientExchange, LettingGoOfAResponseClosesItsConnection) {
  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_EQ(piece(), "ab");
  result_.reset();
  EXPECT_TRUE(wire().closed);
  loop_.run();
  EXPECT_EQ(client_->open_connections(), 0U);
}

/// Yields the given pieces, then the end or a failure.
BodySource source_of(std::vector<std::string> pieces, bool fails = false) {
  auto left = std::make_shared<std::vector<std::string>>(std::move(pieces));
  return [left, fails]() -> Task<BodyPiece> {
    BodyPiece piece;
    if (left->empty()) {
      piece.state = fails ? BodyPiece::State::kFailed : BodyPiece::State::kEnd;
      co_return piece;
    }
    piece.state = BodyPiece::State::kData;
    piece.bytes = left->front();
    left->erase(left->begin());
    co_return piece;
  };
}

TEST_F(HttpClientExchange, PulledBodiesAreChunkedOrCounted) {
  auto request = post("");
  request.source = source_of({"ab", "", "c"});
  send(request);
  EXPECT_TRUE(wire().sent.ends_with("chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"));
  answer(kEmptyResponse);
  EXPECT_EQ(client_->kept_connections(), 1U);
  request.source = source_of({"ab", "c"});
  request.source_bytes = 3;
  wire().sent.clear();
  send(request);
  EXPECT_TRUE(wire().sent.ends_with("Content-Length: 3\r\n\r\nabc"));
}

TEST_F(HttpClientExchange, ABodyThatFailsIsNotPassedOffAsWhole) {
  std::size_t index = 0;
  struct Case {
    std::vector<std::string> pieces;
    bool fails;
    std::optional<std::uint64_t> bytes;
  };
  const Case cases[] = {{{"ab"}, true, std::nullopt}, {{"ab"}, false, 3}, {{"ab", "cd"}, false, 3}};
  for (const auto& each : cases) {
    auto request = post("");
    request.source = source_of(each.pieces, each.fails);
    request.source_bytes = each.bytes;
    send(request);
    EXPECT_EQ(fault(), ClientFault::kBodySource);
    EXPECT_TRUE(wire(index).closed);
    EXPECT_EQ(wire(index).sent.find("0\r\n\r\n"), std::string::npos);
    ++index;
  }
}

TEST_F(HttpClientExchange, AnEarlyAnswerIsReadWhileTheRequestIsOnItsWay) {
  network_.on_connect = [](FakeWire& wire) { wire.window_bytes = 100; };
  send(post(std::string(200'000, 'x')));
  answer("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_TRUE(result_);
  EXPECT_EQ(response().status, 413);
  EXPECT_EQ(piece(), "no");
  EXPECT_EQ(piece(), "(end)");
  EXPECT_TRUE(wire().closed);  // the rest of the request would be the next one's beginning
  EXPECT_EQ(client_->kept_connections(), 0U);
}

TEST_F(HttpClientExchange, ShuttingDownEndsEverything) {
  send();
  answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  read();
  bool done = false;
  [](Client& client, bool& at_end) -> Detached {
    co_await client.shut_down();
    at_end = true;
  }(*client_, done);
  loop_.run();
  EXPECT_TRUE(done);
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error.fault, ClientFault::kCancelled);
  send();
  EXPECT_EQ(fault(), ClientFault::kCancelled);
}

TEST_F(HttpClientExchange, PeersThatCloseAtEveryByte) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const auto head_size = bytes.find("\r\n\r\n") + 4;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    send();
    const auto index = network_.wires.size() - 1;
    wire(index).piece_bytes_max = 1;
    answer(bytes.substr(0, size), index);
    close(index);
    if (size < head_size) {
      EXPECT_EQ(fault(), ClientFault::kConnectionLost) << size;
      continue;
    }
    ASSERT_TRUE(result_ && fault() == std::nullopt) << size;
    std::string body;
    std::string last;
    while ((last = piece()).size() == 1) body += last;
    EXPECT_EQ(last, size == bytes.size() ? "(end)" : "cut_short") << size;
    EXPECT_EQ(body, std::string("abc").substr(0, size < head_size + 3 ? 0 : size - head_size - 3));
  }
}

}  // namespace
}  // namespace layard::http
