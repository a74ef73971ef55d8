#include "gateway/reply_relay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "gateway/forward_fields.h"
#include "http/exchange.h"
#include "support/fake_client.h"

namespace layard::gateway {
namespace {

constexpr std::size_t kQueueBytesMax = 256 * 1024;
constexpr const char* kEvents = "Content-Type: text/event-stream\r\n";
constexpr const char* kJson = "Content-Type: application/json\r\n";
constexpr const char* kComment = ": keep-alive\n\n";

// The device sends on a fake wire; the client is the other side of the exchange.
class Relay : public testing::FakeClient {
 protected:
  ~Relay() override {
    exchange_->leave(true);
    std::optional<bool> shut;
    if (client_) testing::run_into(shut_down(), shut);
    loop_.run();
  }
  http::Task<bool> shut_down() {
    co_await client_->shut_down();
    co_return true;
  }

  static RelayOptions options(bool wants_stream, std::int64_t keepalive_ms = 0) {
    RelayOptions out;
    out.wants_stream = wants_stream;
    out.model = "m";
    out.keepalive_ms = keepalive_ms;
    return out;
  }
  void make(const RelayOptions& options) {
    ReplyRelay::Hooks hooks;
    hooks.on_keepalive = [this] { ++comments_; };
    relay_.emplace(loop_, responder_, options, std::move(hooks));
    relay_->watch_silence([] {
      http::Response head;
      head.fields.add("X-Early", "1");
      return head;
    });
  }
  // The head of the device's reply is there, and is relayed. The body is as long as the connection.
  void relay(const std::string& fields, int status = 200) {
    send();
    answer("HTTP/1.1 " + std::to_string(status) + " Some\r\n" + fields + "\r\n",
           network_.wires.size() - 1);
    http::Response head;
    head.status = status;
    head.fields = downstream_fields(response().fields);
    testing::run_into(relay_->relay(response(), std::move(head)), end_);
    loop_.run();
  }
  // What the client gets; it takes all there is.
  void receive() {
    loop_.run();
    while (true) {
      auto batch = exchange_->take();
      if (batch.empty()) return;
      if (batch.whole) whole_ = std::move(batch.whole);
      if (batch.head) head_ = std::move(batch.head);
      got_ += batch.bytes;
      finished_ = finished_ || batch.finished;
      cut_ = cut_ || batch.cut;
      exchange_->written();
      loop_.run();
    }
  }
  void device_sends(const std::string& bytes) {
    answer(bytes, network_.wires.size() - 1);
    receive();
  }
  void device_ends() {
    close(network_.wires.size() - 1);
    receive();
  }
  void device_breaks() {
    wire(network_.wires.size() - 1).client_reset = true;
    device_ends();
  }
  // As the request does after a reply that broke off.
  void fail() {
    relay_->fail(502, "it broke", "reply_cut", {});
    receive();
  }

  std::shared_ptr<http::Exchange> exchange_ =
      std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
  http::Responder responder_{exchange_};
  std::optional<ReplyRelay> relay_;
  std::optional<RelayResult> end_;
  std::optional<http::Response> whole_;
  std::optional<http::Response> head_;
  std::string got_;
  bool finished_ = false;
  bool cut_ = false;
  int comments_ = 0;
};

using ReplyRelayTest = Relay;

TEST_F(ReplyRelayTest, EventsAreTheSameHoweverTheyAreCut) {
  const std::string sent =
      "data: {\"model\":\"dev\",\"choices\":[{\"delta\":{\"content\":\"h\xC3\xA9\xE2\x82\xAC\xF0"
      "\x9F\x98\x80\"}}]}\r\n\r\n: note\n\nevent: x\ndata: {\"model\":\"dev\"}\n\n"
      "data: [DONE]\n\n";
  std::string expected = sent;
  for (auto at = expected.find("dev"); at != std::string::npos; at = expected.find("dev")) {
    expected.replace(at, 3, "m");
  }
  for (std::size_t cut = 0; cut <= sent.size(); ++cut) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    got_.clear();
    finished_ = false;
    end_.reset();
    make(options(true));
    relay(kEvents);
    device_sends(sent.substr(0, cut));
    device_sends(sent.substr(cut));
    EXPECT_EQ(got_, expected) << cut;  // before the end: nothing is held back
    EXPECT_FALSE(end_.has_value());
    device_ends();
    ASSERT_TRUE(end_.has_value());
    EXPECT_EQ(end_->end, RelayEnd::kDone);
    EXPECT_EQ(got_, expected) << cut;
    EXPECT_TRUE(finished_);
    EXPECT_EQ(head_->status, 200);
    EXPECT_EQ(relay_->model_reported(), "dev");
    EXPECT_EQ(relay_->events(), 3U);
    exchange_->leave(false);
  }
}

TEST_F(ReplyRelayTest, TheFirstTokenAndTheUsageAreSeen) {
  make(options(true));
  relay(kEvents);
  device_sends("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n");
  EXPECT_TRUE(relay_->first_byte_ns().has_value());
  EXPECT_FALSE(relay_->first_token_ns().has_value());
  loop_.advance_ms(7);
  device_sends("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
  EXPECT_EQ(*relay_->first_token_ns() - *relay_->first_byte_ns(), 7'000'000);
  device_sends("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}");
  device_ends();
  EXPECT_EQ(relay_->usage().prompt_tokens, 5);
  EXPECT_EQ(relay_->usage().completion_tokens, 2);
}

TEST_F(ReplyRelayTest, AFirstEventThatIsAnErrorIsAnError) {
  make(options(true));
  relay(kEvents);
  device_sends("data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n");
  ASSERT_TRUE(whole_.has_value());
  EXPECT_EQ(whole_->status, 503);
  EXPECT_EQ(whole_->fields.value_or_empty("Content-Type"), "application/json");
  EXPECT_EQ(whole_->body, "{\"error\":{\"code\":503,\"message\":\"busy\"}}");
  EXPECT_EQ(end_->end, RelayEnd::kDone);
  EXPECT_EQ(end_->status, 503);
  EXPECT_TRUE(relay_->replied());
}

TEST_F(ReplyRelayTest, ALaterErrorIsAnEvent) {
  make(options(true));
  relay(kEvents);
  device_sends("data: {}\n\ndata: {\"error\":{\"code\":503}}\n\n");
  EXPECT_FALSE(whole_.has_value());
  EXPECT_EQ(got_, "data: {}\n\ndata: {\"error\":{\"code\":503}}\n\n");
}

TEST_F(ReplyRelayTest, CommentsBeginBeforeThereIsAReply) {
  make(options(true, 1000));
  loop_.advance_ms(999);
  receive();
  EXPECT_FALSE(head_.has_value());
  loop_.advance_ms(1);
  receive();
  ASSERT_TRUE(head_.has_value());
  EXPECT_EQ(head_->status, 200);
  EXPECT_EQ(head_->fields.value_or_empty("Content-Type"), "text/event-stream");
  EXPECT_EQ(head_->fields.value_or_empty("X-Early"), "1");
  EXPECT_EQ(got_, kComment);
  EXPECT_TRUE(relay_->begun());
  EXPECT_FALSE(relay_->replied());
  loop_.advance_ms(2000);
  receive();
  EXPECT_EQ(comments_, 3);
  head_.reset();
  got_.clear();
  relay(kEvents);
  device_sends("data: {}\n\n");
  EXPECT_FALSE(head_.has_value());
  EXPECT_EQ(got_, "data: {}\n\n");
  EXPECT_TRUE(relay_->replied());
}

TEST_F(ReplyRelayTest, CommentsStandBetweenEventsOnly) {
  make(options(true, 1000));
  relay(kEvents);
  device_sends("data: {\"a\":");
  loop_.advance_ms(5000);
  receive();
  EXPECT_EQ(got_, "data: {\"a\":");
  device_sends("1}\n");
  loop_.advance_ms(5000);
  receive();
  EXPECT_EQ(comments_, 0);
  device_sends("\n");
  loop_.advance_ms(999);
  receive();
  EXPECT_EQ(comments_, 0);
  loop_.advance_ms(4001);
  receive();
  EXPECT_EQ(got_, "data: {\"a\":1}\n\n" + std::string(kComment) + kComment + kComment + kComment +
                      kComment);
}

// The device's event is complete, but its end waits for the client: what is sent now goes into it.
TEST_F(ReplyRelayTest, CommentsStandInNoEventThatWaitsForTheClient) {
  int waited = 0;
  // Of some sizes the last piece finds no room, where a comment would.
  for (std::size_t size = kQueueBytesMax - 8 * 1024; size < kQueueBytesMax + 64 * 1024;
       size += 1500) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    got_.clear();
    end_.reset();
    make(options(true, 1000));
    relay(kEvents);
    const std::string event = "data: \"" + std::string(size, 'a') + "\"\n\n";
    answer(event.substr(0, 2000), network_.wires.size() - 1);  // the others fill it to no end
    answer(event.substr(2000), network_.wires.size() - 1);
    const int before = comments_;
    loop_.advance_ms(10'000);
    waited += comments_ == before ? 1 : 0;
    receive();
    EXPECT_EQ(got_.substr(0, event.size()), event) << size;
    device_ends();
    ASSERT_TRUE(end_.has_value());
    exchange_->leave(false);
  }
  EXPECT_GT(waited, 0);
}

TEST_F(ReplyRelayTest, OnlyStreamsThatAreAskedForGetComments) {
  for (const auto& [wants_stream, keepalive_ms] : {std::pair(false, 1000), std::pair(true, 0)}) {
    make(options(wants_stream, keepalive_ms));
    loop_.advance_ms(100'000);
    receive();
    EXPECT_EQ(comments_, 0);
    EXPECT_FALSE(relay_->begun());
  }
}

TEST_F(ReplyRelayTest, AStreamThatBreaksOffEndsWithAnErrorAndWithoutDone) {
  const auto check = [&](const std::string& sent, const std::string& before) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    got_.clear();
    finished_ = false;
    end_.reset();
    make(options(true));
    relay(kEvents + std::string("Transfer-Encoding: chunked\r\n"));
    std::array<char, 32> size;
    std::snprintf(size.data(), size.size(), "%zx\r\n", sent.size());
    device_sends(size.data() + sent + "\r\n");
    device_breaks();
    EXPECT_EQ(end_->end, RelayEnd::kDeviceFailed);
    EXPECT_TRUE(relay_->replied());
    EXPECT_FALSE(finished_);
    fail();
    EXPECT_EQ(got_.find(before + "data: {\"error\":{"), 0U) << got_;
    EXPECT_NE(got_.find("it broke"), std::string::npos);
    EXPECT_TRUE(got_.ends_with("\n\n"));
    EXPECT_EQ(got_.find("[DONE]"), std::string::npos);
    EXPECT_TRUE(finished_);
    EXPECT_FALSE(cut_);
    exchange_->leave(false);
  };
  check("data: {}\n\n", "data: {}\n\n");
  check("data: {\"a", "data: {\"a\n\n");
  check("data: {}\n", "data: {}\n\n\n");
}

TEST_F(ReplyRelayTest, AnErrorThatFindsNoRoomCutsTheStream) {
  make(options(true));
  relay(kEvents);
  // As much as the queue takes, to the byte; the client takes nothing.
  const std::string event = "data: {}\n\n";
  const std::string rest = "data: " + std::string(kQueueBytesMax - event.size() - 8, 'a') + "\n\n";
  answer(event);
  answer(rest);
  wire().client_reset = true;
  close();
  ASSERT_TRUE(end_.has_value());
  EXPECT_EQ(end_->end, RelayEnd::kDeviceFailed);
  relay_->fail(502, "it broke", "reply_cut", {});
  receive();
  EXPECT_EQ(got_, event + rest);
  EXPECT_TRUE(cut_);
  EXPECT_FALSE(finished_);
}

TEST_F(ReplyRelayTest, AWholeReplyGoesOutInOnePiece) {
  make(options(false));
  const std::string begin = R"({"model":"dev",)";
  const std::string end = R"("usage":{"prompt_tokens":5}})";
  relay(kJson + ("Content-Length: " + std::to_string(begin.size() + end.size())) + "\r\n");
  device_sends(begin);
  EXPECT_FALSE(whole_.has_value());
  device_sends(end);
  ASSERT_TRUE(whole_.has_value());
  EXPECT_EQ(whole_->body, R"({"model":"m","usage":{"prompt_tokens":5}})");
  EXPECT_EQ(end_->end, RelayEnd::kDone);
  EXPECT_EQ(relay_->usage().prompt_tokens, 5);
}

TEST_F(ReplyRelayTest, WholeReplies) {
  const auto check = [&](int status, const std::string& fields, const std::string& sent,
                         const std::string& expected) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    whole_.reset();
    end_.reset();
    make(options(false));
    relay(fields, status);
    device_sends(sent);
    device_ends();
    ASSERT_TRUE(whole_.has_value()) << sent;
    EXPECT_EQ(whole_->status, status);
    EXPECT_EQ(whole_->body, expected);
    EXPECT_EQ(end_->end, RelayEnd::kDone);
    exchange_->leave(false);
  };
  check(200, kJson, R"({"model":"dev"})", R"({"model":"m"})");
  check(200, kJson, "", "");
  check(404, kJson, R"({"error":{"message":"x"}})", R"({"error":{"message":"x"}})");
  check(200, "Content-Type: text/plain\r\n", "\xFF\x00text", "\xFF");
  check(500, kEvents, "data: {\"model\":\"dev\"}\n\n", "data: {\"model\":\"m\"}\n\n");
  // What is compressed passes as it is.
  check(200, kJson + std::string("Content-Encoding: gzip\r\n"), R"({"model":"dev"})",
        R"({"model":"dev"})");
  check(200, kJson + std::string("Content-Encoding: identity\r\n"), R"({"model":"dev"})",
        R"({"model":"m"})");
}

TEST_F(ReplyRelayTest, ACompressedStreamPassesAtOnceAndAsItIs) {
  make(options(true, 1000));
  relay(kEvents + std::string("Content-Encoding: gzip\r\n"));
  device_sends("\x1F\x8B\"model\":\"dev\"");
  EXPECT_EQ(got_, "\x1F\x8B\"model\":\"dev\"");
  loop_.advance_ms(5000);
  receive();
  EXPECT_EQ(comments_, 0);
  device_ends();
  EXPECT_TRUE(finished_);
  EXPECT_EQ(end_->end, RelayEnd::kDone);
}

TEST_F(ReplyRelayTest, ACompressedReplyCannotFollowComments) {
  make(options(true, 1000));
  loop_.advance_ms(1000);
  relay(kJson + std::string("Content-Encoding: gzip\r\n"));
  device_sends("\x1F\x8B");
  EXPECT_EQ(got_.find(std::string(kComment) + "data: {\"error\":"), 0U) << got_;
  EXPECT_TRUE(finished_);
}

TEST_F(ReplyRelayTest, AWholeReplyThatBreaksOffEarlyLeavesTheClientWithoutAny) {
  make(options(false));
  relay(kJson + std::string("Content-Length: 100\r\n"));
  device_sends("{\"a\":");
  device_breaks();
  EXPECT_EQ(end_->end, RelayEnd::kDeviceFailed);
  EXPECT_FALSE(relay_->begun());
  EXPECT_FALSE(relay_->replied());
  fail();
  EXPECT_EQ(whole_->status, 502);
}

TEST_F(ReplyRelayTest, ALargeReplyStreamsAndIsCutWhenItBreaksOff) {
  make(options(false));
  relay(kJson + std::string("Content-Length: 1000000\r\n"));
  const std::string piece(50'000, 'a');
  device_sends("{\"model\":\"dev\",\"a\":\"");
  device_sends(piece);
  EXPECT_FALSE(head_.has_value());
  device_sends(piece);
  ASSERT_TRUE(head_.has_value());
  EXPECT_EQ(got_, "{\"model\":\"m\",\"a\":\"" + piece + piece);
  device_breaks();
  EXPECT_EQ(end_->end, RelayEnd::kDeviceFailed);
  EXPECT_TRUE(relay_->replied());
  fail();
  EXPECT_TRUE(cut_);
  EXPECT_FALSE(finished_);
}

TEST_F(ReplyRelayTest, AReplyThatIsNoStreamIsAnEventAfterComments) {
  const auto check = [&](int status, const std::string& sent, const std::string& expected) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    got_.clear();
    finished_ = false;
    end_.reset();
    make(options(true, 1000));
    loop_.advance_ms(1000);
    relay(kJson, status);
    device_sends(sent);
    device_ends();
    EXPECT_EQ(got_.substr(0, (kComment + expected).size()), kComment + expected) << got_;
    EXPECT_TRUE(finished_);
    EXPECT_EQ(end_->end, RelayEnd::kDone);
    exchange_->leave(false);
  };
  check(200, R"({"model":"dev"})", "data: {\"model\":\"m\"}\n\n");
  check(200, "{\n  \"a\": 1\r\n}\n", "data: {\ndata:   \"a\": 1\r\ndata: }\n\n");
  check(503, R"({"error":"x"})", "data: {\"error\":{");
  const std::string large = "{\"a\":\"" + std::string(100'000, 'a') + "\"}";
  check(200, large, "data: " + large + "\n\n");
}

TEST_F(ReplyRelayTest, AnErrorAfterCommentsIsAnEvent) {
  make(options(true, 1000));
  loop_.advance_ms(1000);
  fail();
  EXPECT_EQ(got_.find(std::string(kComment) + "data: {\"error\":"), 0U) << got_;
  EXPECT_TRUE(finished_);
}

TEST_F(ReplyRelayTest, AClientThatReadsNothingStopsTheDevice) {
  make(options(true));
  relay(kEvents);
  const std::string event = "data: \"" + std::string(1000, 'a') + "\"\n\n";
  std::string sent;
  for (int i = 0; i < 2000; ++i) sent += event;
  answer(sent);
  loop_.advance_ms(60'000);
  // The queue, what waits for it and what the reader holds; the rest is still with the device.
  EXPECT_GT(wire().incoming.size(), sent.size() - kQueueBytesMax - 3 * 64 * 1024);
  receive();
  EXPECT_EQ(got_, sent);
}

TEST_F(ReplyRelayTest, AClientThatLeavesEndsTheReplyWhereverItIs) {
  const auto check = [&](const std::string& fields, const std::string& sent, bool is_known) {
    exchange_ = std::make_shared<http::Exchange>(loop_, kQueueBytesMax);
    responder_ = http::Responder(exchange_);
    end_.reset();
    make(options(true));
    relay(fields);
    answer(sent, network_.wires.size() - 1);
    exchange_->leave(true);
    loop_.run();
    EXPECT_EQ(end_.has_value(), is_known);
    if (!is_known) answer("data: {}\n\n", network_.wires.size() - 1);
    ASSERT_TRUE(end_.has_value());
    EXPECT_EQ(end_->end, RelayEnd::kClientGone);
  };
  check(kEvents, "data: {}\n\n",
        false);  // noticed with the next piece, or by cancelling the request
  check(kEvents, "data: " + std::string(1'000'000, 'a'), true);
}

TEST(FirstError, Streams) {
  const auto check = [](const std::string& stream, int status, const std::string& json = "") {
    const auto found = first_error(stream);
    EXPECT_EQ(found.has_value() ? found->status : 0, status) << stream;
    EXPECT_EQ(found.has_value() ? found->json : "", json) << stream;
  };
  const std::string error = R"({"error":{"code":429,"message":"slow"}})";
  check("data: " + error + "\n\n", 429, error);
  check("data: " + error + "\r\n\r\n", 429, error);
  check("event: error\ndata: " + error + "\n\n", 429, error);
  check(": note\n\ndata:" + error + "\n\ndata: {}\n\n", 429, error);
  check(R"(data: {"error":{"status":503}})"
        "\n\n",
        503, R"({"error":{"status":503}})");
  check(R"(data: {"error":{"code":"no"}})"
        "\n\n",
        502, R"({"error":{"code":"no"}})");
  check(R"(data: {"error":{"code":200}})"
        "\n\n",
        502, R"({"error":{"code":200}})");
  check("data: " + error + "\n", 0);
  check("data: " + error, 0);
  check("", 0);
  check("data: {\"error\":null}\n\n", 0);
  check("data: {\"error\":\"text\"}\n\n", 0);
  check("data: {\"a\":\"\\\"error\\\"\"}\n\n", 0);
  check("data: [\"error\"]\n\n", 0);
  check("data: {\"error\"\n\n", 0);
  check("data: {}\n\ndata: " + error + "\n\n", 0);
}

}  // namespace
}  // namespace layard::gateway
