#include "http/client_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/fake_dialer.h"
#include "support/fake_loop.h"

namespace layard::http {
namespace {

using testing::FakeDialer;
using testing::FakeLoop;
using testing::FakeNetwork;
using testing::FakeStream;
using testing::FakeWire;

class CountedExchange final : public TimedExchange {
 public:
  void check_time(std::int64_t now_ns) override {
    ++checks;
    last_ns = now_ns;
  }
  void cancel() override { ++cancels; }
  int checks = 0;
  int cancels = 0;
  std::int64_t last_ns = 0;
};

class HttpClientState : public ::testing::Test {
 protected:
  void begin() {
    state_ = std::make_shared<ClientState>(loop_, std::make_unique<FakeDialer>(loop_, network_),
                                           options_);
  }
  ~HttpClientState() override {
    if (state_) state_->shut_down();
    loop_.run();
  }
  std::shared_ptr<ClientConnection> open(const std::string& origin) {
    EXPECT_TRUE(state_->may_dial());
    wires_.push_back(std::make_shared<FakeWire>());
    return state_->adopt(std::make_unique<FakeStream>(loop_, wires_.back()), origin);
  }
  void keep(const std::string& origin) {
    state_->keep(open(origin));
    loop_.advance_ms(1);
  }

  FakeLoop loop_;
  FakeNetwork network_;
  ClientOptions options_;
  std::vector<std::shared_ptr<FakeWire>> wires_;
  std::shared_ptr<ClientState> state_;
};

TEST_F(HttpClientState, KeptConnectionsAreOfTheirOriginNewestFirst) {
  begin();
  keep("a");
  keep("a");
  keep("b");
  EXPECT_EQ(state_->kept_count(), 3U);
  EXPECT_EQ(state_->take_kept("c"), nullptr);
  const auto newest = state_->take_kept("a");
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(state_->kept_count(), 2U);
  newest->retire();
  loop_.run();
  EXPECT_FALSE(wires_[0]->closed);
  EXPECT_TRUE(wires_[1]->closed);
  EXPECT_EQ(state_->open_count(), 2U);
}

TEST_F(HttpClientState, BoundsPerUpstreamAndInAll) {
  options_.kept_per_upstream_max = 2;
  options_.kept_max = 3;
  begin();
  keep("a");
  keep("a");
  keep("a");
  EXPECT_TRUE(wires_[2]->closed);
  keep("b");
  EXPECT_EQ(state_->kept_count(), 3U);
  keep("c");  // the oldest makes room
  EXPECT_EQ(state_->kept_count(), 3U);
  EXPECT_TRUE(wires_[0]->closed);
  EXPECT_EQ(state_->open_count(), 3U);
}

TEST_F(HttpClientState, NothingIsKeptWhenTheBoundIsZero) {
  options_.kept_per_upstream_max = 0;
  begin();
  keep("a");
  EXPECT_EQ(state_->kept_count(), 0U);
  EXPECT_TRUE(wires_[0]->closed);
}

TEST_F(HttpClientState, KeptConnectionsGetOld) {
  options_.kept_ms = 1000;
  begin();
  keep("a");
  loop_.advance_ms(900);
  EXPECT_FALSE(wires_[0]->closed);
  loop_.advance_ms(200);
  EXPECT_TRUE(wires_[0]->closed);
  EXPECT_EQ(state_->kept_count(), 0U);
  EXPECT_EQ(state_->open_count(), 0U);
  loop_.advance_ms(100);
  EXPECT_EQ(loop_.timer_count(), 0U);  // nothing is left to watch
}

TEST_F(HttpClientState, OldOnesAreNotTakenBeforeTheNextTick) {
  options_.kept_ms = 1000;
  options_.tick_ms = 5000;
  begin();
  keep("a");
  loop_.advance_ms(1001);
  EXPECT_EQ(state_->take_kept("a"), nullptr);
  loop_.run();
  EXPECT_TRUE(wires_[0]->closed);
}

TEST_F(HttpClientState, WhatTheUpstreamClosesIsDropped) {
  begin();
  keep("a");
  keep("a");
  wires_[1]->client_closed = true;
  wires_[1]->poke();
  loop_.run();
  EXPECT_EQ(state_->kept_count(), 1U);
  EXPECT_EQ(state_->open_count(), 1U);
  EXPECT_TRUE(wires_[1]->closed);
}

TEST_F(HttpClientState, WhatSpeaksUnaskedIsNotTaken) {
  begin();
  keep("a");
  wires_[0]->incoming = "HTTP/1.1 408 Too late\r\n\r\n";
  wires_[0]->poke();
  loop_.run();
  EXPECT_EQ(state_->take_kept("a"), nullptr);
  loop_.run();
  EXPECT_TRUE(wires_[0]->closed);
}

TEST_F(HttpClientState, OpenConnectionsAreBounded) {
  options_.connections_max = 2;
  begin();
  const auto first = open("a");
  keep("a");
  EXPECT_TRUE(state_->may_dial());  // the kept one makes room
  EXPECT_FALSE(state_->may_dial());
  state_->dial_failed();
  loop_.run();
  EXPECT_TRUE(wires_[1]->closed);
  EXPECT_EQ(state_->open_count(), 1U);
  EXPECT_TRUE(state_->may_dial());
  state_->dial_failed();
  first->retire();
}

TEST_F(HttpClientState, TicksReachExchangesUntilTheyLeave) {
  options_.tick_ms = 20;
  begin();
  const auto first = std::make_shared<CountedExchange>();
  auto second = std::make_shared<CountedExchange>();
  state_->enter(first);
  state_->enter(second);
  loop_.advance_ms(60);
  EXPECT_EQ(first->checks, 3);
  EXPECT_EQ(first->last_ns, loop_.now_ns());
  state_->leave(*first);
  second.reset();
  loop_.advance_ms(60);
  EXPECT_EQ(first->checks, 3);
}

TEST_F(HttpClientState, ShuttingDownCancelsAndWaits) {
  begin();
  const auto exchange = std::make_shared<CountedExchange>();
  state_->enter(exchange);
  keep("a");
  state_->shut_down();
  EXPECT_EQ(exchange->cancels, 1);
  EXPECT_FALSE(state_->may_dial());
  bool settled = false;
  [](std::shared_ptr<ClientState> state, bool& done) -> Detached {
    co_await state->settled();
    done = true;
  }(state_, settled);
  EXPECT_FALSE(settled);
  loop_.run();
  EXPECT_TRUE(settled);
  EXPECT_EQ(state_->open_count(), 0U);
}

}  // namespace
}  // namespace layard::http
