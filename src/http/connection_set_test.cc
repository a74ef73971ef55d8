#include "http/connection_set.h"

#include <gtest/gtest.h>

#include "support/http_world.h"

namespace layard::http {
namespace {

using testing::HttpWorld;
using testing::status_of;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

ServerOptions short_limits() {
  ServerOptions options;
  options.idle_ms = 5000;
  options.head_ms = 1000;
  options.body_ms = 2000;
  options.write_ms = 3000;
  options.linger_ms = 500;
  return options;  // looked at every 50 ms
}

void answer(HttpWorld& world, std::string body) {
  world.handler.responders.back().send(make_response(200, "text/plain", std::move(body)));
  world.handler.responders.pop_back();
  world.loop.run();
}

TEST(HttpConnectionSet, TickIsATenthOfTheShortestLimit) {
  EXPECT_EQ(tick_ms_of(short_limits()), 50);
  EXPECT_EQ(tick_ms_of(ServerOptions{}), 200);
  ServerOptions options;
  options.linger_ms = 1;
  EXPECT_EQ(tick_ms_of(options), 10);
}

TEST(HttpConnectionSet, ASlowHeaderIsRefused) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  // A byte now and then does not move the limit.
  for (int i = 0; i < 9; ++i) {
    client.send(kGet.substr(static_cast<std::size_t>(i), 1));
    world.loop.advance_ms(100);
    EXPECT_EQ(client.received(), "") << i;
  }
  world.loop.advance_ms(250);
  EXPECT_EQ(status_of(client.received()), 408);
  EXPECT_EQ(world.refused(RefusalReason::kHeadTime), 1U);
  EXPECT_FALSE(client.is_closed());  // lingers
  world.loop.advance_ms(600);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(world.set.size(), 0U);
}

TEST(HttpConnectionSet, ASlowBodyIsRefused) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
  for (int i = 0; i < 19; ++i) {
    client.send("x");
    world.loop.advance_ms(100);
    EXPECT_EQ(client.received(), "") << i;
  }
  world.loop.advance_ms(200);
  EXPECT_EQ(status_of(client.received()), 408);
  EXPECT_EQ(world.refused(RefusalReason::kBodyTime), 1U);
}

TEST(HttpConnectionSet, AClientThatSaysNothingIsClosed) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  world.loop.advance_ms(950);
  EXPECT_FALSE(client.is_closed());
  world.loop.advance_ms(150);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(client.received(), "");
  EXPECT_EQ(world.counters().connections_idle_closed, 1U);
}

TEST(HttpConnectionSet, IdleConnectionsAreKeptForTheirTime) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(kGet);
    answer(world, "x");
    EXPECT_EQ(status_of(client.received()), 200);
    world.loop.advance_ms(4900);
    EXPECT_FALSE(client.is_closed());
  }
  world.loop.advance_ms(200);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(world.counters().connections_idle_closed, 1U);
}

TEST(HttpConnectionSet, AClientThatDoesNotReadIsCut) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  client.send(kGet);
  client.take_bytes(0);
  answer(world, "x");
  world.loop.advance_ms(2900);
  EXPECT_FALSE(client.is_closed());
  world.loop.advance_ms(200);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(world.counters().responses_cut, 1U);
}

TEST(HttpConnectionSet, ASlowReaderIsServedWhileItReads) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  client.send(kGet);
  client.take_bytes(0);
  answer(world, std::string(8000, 'x'));
  std::size_t got = 0;
  for (int i = 0; i < 12; ++i) {
    client.take_bytes(800);
    got += client.received().size();
    EXPECT_FALSE(client.is_closed());
    world.loop.advance_ms(2500);
  }
  EXPECT_GT(got, 8000U);
}

TEST(HttpConnectionSet, AHandlerMayTakeItsTime) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  client.send(kGet);
  world.loop.advance_ms(100'000);
  answer(world, "x");
  EXPECT_EQ(status_of(client.received()), 200);
}

TEST(HttpConnectionSet, AStreamMayPause) {
  HttpWorld world(short_limits());
  auto client = world.connect();
  client.send(kGet);
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/event-stream", ""));
  world.loop.advance_ms(100'000);
  EXPECT_EQ(responder.write("x"), WriteStatus::kAccepted);
  responder.finish();
  EXPECT_NE(client.received().find("1\r\nx\r\n0\r\n\r\n"), std::string::npos);
}

TEST(HttpConnectionSet, ADiscardedBodyHasALimitToo) {
  HttpWorld world(short_limits());
  world.handler.on_admit = [](const Request&) {
    Admission admission;
    admission.refusal = make_response(429, "text/plain", "no");
    return admission;
  };
  auto client = world.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx");
  EXPECT_EQ(status_of(client.received()), 429);
  world.loop.advance_ms(2100);
  EXPECT_TRUE(client.wire().send_shut);
  world.loop.advance_ms(600);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpConnectionSet, NoTimerRunsWithoutConnections) {
  HttpWorld world(short_limits());
  EXPECT_EQ(world.loop.timer_count(), 0U);
  {
    auto client = world.connect();
    EXPECT_EQ(world.loop.timer_count(), 1U);
    client.close();
  }
  EXPECT_EQ(world.state.connections, 0U);
  world.loop.advance_ms(200);
  EXPECT_EQ(world.loop.timer_count(), 0U);
}

TEST(HttpConnectionSet, DrainingClosesTheIdleAndFinishesTheRest) {
  HttpWorld world(short_limits());
  auto idle = world.connect();
  auto busy = world.connect();
  auto halfway = world.connect();
  busy.send(kGet);
  halfway.send(kGet.substr(0, 10));
  world.state.draining = true;
  world.set.drain();
  world.loop.run();
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(world.counters().connections_idle_closed, 0U);
  EXPECT_FALSE(busy.is_closed());
  answer(world, "x");
  EXPECT_NE(busy.received().find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(busy.is_closed());
  EXPECT_FALSE(world.drained);
  halfway.send(kGet.substr(10));
  answer(world, "y");
  EXPECT_EQ(status_of(halfway.received()), 200);
  EXPECT_TRUE(halfway.is_closed());
  EXPECT_TRUE(world.drained);
}

TEST(HttpConnectionSet, DrainingAnEmptySetIsDone) {
  HttpWorld world;
  world.set.drain();
  EXPECT_TRUE(world.drained);
}

TEST(HttpConnectionSet, ForceEndsEverything) {
  HttpWorld world(short_limits());
  auto idle = world.connect();
  auto busy = world.connect();
  busy.send(kGet);
  auto streaming = world.connect();
  streaming.send(kGet);
  world.handler.responders[1].start(make_response(200, "text/plain", ""));
  auto stuck = world.connect();
  stuck.send(kGet);
  stuck.take_bytes(0);
  answer(world, "x");
  auto refused = world.connect();
  refused.send("nonsense\n");
  world.set.force();
  world.loop.run();
  for (auto* client : {&idle, &busy, &streaming, &stuck, &refused}) {
    EXPECT_TRUE(client->is_closed());
  }
  EXPECT_EQ(world.set.size(), 0U);
  EXPECT_EQ(world.state.connections, 0U);
  EXPECT_TRUE(world.handler.responders[0].cancelled().stop_requested());
  EXPECT_TRUE(world.handler.responders[1].cancelled().stop_requested());
  EXPECT_EQ(world.counters().requests_open, 0U);
  EXPECT_EQ(world.counters().clients_gone, 0U);  // it was us
}

}  // namespace
}  // namespace layard::http
