#include "http/exchange.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/fake_loop.h"

namespace layard::http {
namespace {

class HttpExchange : public ::testing::Test {
 protected:
  Responder responder() { return Responder(exchange_); }
  // Counts wakes until the connection's side left.
  Detached follow() {
    const auto exchange = exchange_;
    while (!exchange->left()) {
      co_await exchange->wait();
      ++wakes_;
    }
  }

  testing::FakeLoop loop_;
  std::shared_ptr<Exchange> exchange_ = std::make_shared<Exchange>(loop_, 10);
  int wakes_ = 0;
};

TEST_F(HttpExchange, AWholeAnswer) {
  follow();
  auto handler = responder();
  handler.send(make_response(201, "a/b", "x"));
  handler.send(make_response(202, "a/b", "y"));  // ignored
  handler.start({});
  EXPECT_EQ(wakes_, 0);  // only on the loop
  loop_.run();
  EXPECT_EQ(wakes_, 1);
  const auto batch = exchange_->take();
  ASSERT_TRUE(batch.whole.has_value());
  EXPECT_EQ(batch.whole->status, 201);
  EXPECT_FALSE(batch.head || batch.finished || batch.cut || batch.abandoned);
  EXPECT_TRUE(exchange_->take().empty());
  exchange_->leave(false);
  EXPECT_FALSE(handler.cancelled().stop_requested());
}

TEST_F(HttpExchange, ADroppedResponderAbandons) {
  { const auto handler = responder(); }
  EXPECT_TRUE(exchange_->take().abandoned);
}

TEST_F(HttpExchange, ADroppedStreamIsCut) {
  {
    auto handler = responder();
    handler.start({});
  }
  const auto batch = exchange_->take();
  EXPECT_TRUE(batch.head.has_value());
  EXPECT_TRUE(batch.cut);
}

TEST_F(HttpExchange, AnAnsweredResponderIsDroppedQuietly) {
  {
    auto handler = responder();
    handler.send({});
  }
  const auto batch = exchange_->take();
  EXPECT_FALSE(batch.abandoned || batch.cut);
}

TEST_F(HttpExchange, AReplacedResponderAbandonsItsOwn) {
  const auto other = std::make_shared<Exchange>(loop_, 10);
  auto handler = responder();
  handler = Responder(other);
  EXPECT_TRUE(exchange_->take().abandoned);
  EXPECT_TRUE(other->take().empty());
}

TEST_F(HttpExchange, TheQueueIsBounded) {
  auto handler = responder();
  EXPECT_EQ(handler.write("x"), WriteStatus::kGone);  // not begun
  handler.start({});
  EXPECT_EQ(handler.write("0123456789abc"), WriteStatus::kAccepted);  // alone it may be larger
  EXPECT_EQ(handler.write("x"), WriteStatus::kFull);
  EXPECT_EQ(exchange_->take().bytes, "0123456789abc");
  EXPECT_EQ(handler.write("x"), WriteStatus::kFull);  // taken, but not written
  int writable = 0;
  handler.on_writable([&] { ++writable; });
  loop_.run();
  EXPECT_EQ(writable, 0);
  exchange_->written();
  EXPECT_EQ(writable, 1);
  EXPECT_EQ(handler.write("01234"), WriteStatus::kAccepted);
  EXPECT_EQ(handler.write("56789"), WriteStatus::kAccepted);
  EXPECT_EQ(handler.write("x"), WriteStatus::kFull);
  handler.finish();
  EXPECT_EQ(handler.write("x"), WriteStatus::kGone);
  const auto batch = exchange_->take();
  EXPECT_EQ(batch.bytes, "0123456789");
  EXPECT_TRUE(batch.finished);
}

TEST_F(HttpExchange, AnEmptyQueueIsWritableSoon) {
  auto handler = responder();
  handler.start({});
  int writable = 0;
  handler.on_writable([&] { ++writable; });
  EXPECT_EQ(writable, 0);  // never from within the call
  loop_.run();
  EXPECT_EQ(writable, 1);
}

TEST_F(HttpExchange, LeavingCancelsAndWakesEverybody) {
  follow();
  auto handler = responder();
  handler.start({});
  EXPECT_EQ(handler.write("0123456789"), WriteStatus::kAccepted);
  WriteStatus seen = WriteStatus::kAccepted;
  handler.on_writable([&] { seen = handler.write("x"); });
  bool cancelled = false;
  const std::stop_callback on_cancel(handler.cancelled(), [&] { cancelled = true; });
  exchange_->leave(true);
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(seen, WriteStatus::kGone);
  EXPECT_EQ(wakes_, 1);
  int at_once = 0;
  handler.on_writable([&] { ++at_once; });
  EXPECT_EQ(at_once, 1);
  handler.finish();
  loop_.run();
  exchange_->leave(true);
}

// A callback that holds the responder itself must not keep the exchange alive for ever.
TEST_F(HttpExchange, ACallbackMayHoldTheResponder) {
  const std::weak_ptr<Exchange> watched = exchange_;
  {
    const auto handler = std::make_shared<Responder>(exchange_);
    handler->start({});
    EXPECT_EQ(handler->write("0123456789"), WriteStatus::kAccepted);
    handler->on_writable([handler] {});
  }
  exchange_->leave(true);
  exchange_.reset();
  loop_.run();
  EXPECT_TRUE(watched.expired());
}

TEST_F(HttpExchange, AnswersFromOtherThreads) {
  follow();
  auto handler = responder();
  handler.start({});
  constexpr int kPieces = 300;
  std::thread other([&] {
    for (int i = 0; i < kPieces;) {
      if (handler.write("abc") == WriteStatus::kAccepted) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
    handler.finish();
  });
  std::string all;
  bool finished = false;
  while (!finished) {
    loop_.run();
    auto batch = exchange_->take();
    EXPECT_LE(batch.bytes.size(), 10U);
    all += batch.bytes;
    finished = batch.finished;
    exchange_->written();
  }
  other.join();
  EXPECT_EQ(all.size(), 3U * kPieces);
  exchange_->leave(false);
}

}  // namespace
}  // namespace layard::http
