#include "gateway/fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <random>
#include <thread>

namespace layard::gateway {
namespace {

using Kind = FleetChoice::Kind;
using Turn = QueueTurn::Kind;
constexpr std::int64_t kMsNs = 1'000'000;
constexpr std::int64_t kStartMs = 1000;

PolicyDevice device(const std::string& name, std::int64_t requests_max, std::int64_t queue_max) {
  PolicyDevice out;
  out.name = name;
  out.url = "http://127.0.0.1:1";
  out.requests_max = requests_max;
  out.queue_max = queue_max;
  return out;
}

// Devices a, b, ...; the default one is b.
RoutePolicy policy_of(std::vector<PolicyDevice> servers) {
  RoutePolicy policy = RoutePolicy::built_in();
  policy.version = 1;
  policy.default_device = "b";
  policy.servers = std::move(servers);
  return policy;
}

RequestOutcome served(double total_ms) {
  return {.end = RequestEnd::kOk, .status = 200, .total_ms = total_ms};
}
RequestOutcome failed(int status) {
  return {.end = RequestEnd::kFailedBeforeFirstByte, .status = status};
}
RequestOutcome cooled(int status, std::int64_t ms) {
  return {.end = RequestEnd::kFailedBeforeFirstByte, .status = status, .retry_after_ms = ms};
}

std::string told(const FleetChanges& changes) {
  std::string out;
  for (const FleetChange& one : changes) {
    out += std::to_string(one.device) + " " + std::string(device_state_name(one.change.to)) + ";";
  }
  return out;
}

// A fleet with its clock, and the turns that were called.
struct Case {
  explicit Case(std::vector<PolicyDevice> servers, FleetOptions options = {})
      : fleet(policy_of(std::move(servers)), options) {}

  std::int64_t now() const { return ms * kMsNs; }
  FleetChoice choose(const std::vector<std::size_t>& order, bool may_wait = true,
                     std::int64_t wait_ms = 0) {
    FleetRequest request;
    request.class_name = "code";
    request.may_wait = may_wait;
    request.deadline_ns = wait_ms > 0 ? now() + wait_ms * kMsNs : 0;
    request.on_turn = [this, number = asked++](QueueTurn turn) {
      turns.emplace_back(number, turn.kind);
      if (turn.reservation.holds()) places.push_back(std::move(turn.reservation));
    };
    return fleet.choose_and_reserve(order, std::move(request), now());
  }
  DeviceView view(std::size_t index) { return fleet.view(now()).at(index); }
  // Takes a device out by three failed requests.
  void eject(std::size_t index) {
    for (int i = 0; i < 3; ++i) {
      FleetChoice one = choose({index});
      ASSERT_EQ(one.kind, Kind::kReserved);
      const std::string changes = told(one.reservation.release(failed(0), now()));
      ASSERT_EQ(changes, i == 2 ? std::to_string(index) + " ejected;" : "");
    }
  }

  std::int64_t ms = kStartMs;
  int asked = 0;
  std::vector<std::pair<int, Turn>> turns;
  std::list<Reservation> places;  // that were granted
  Fleet fleet;
};

TEST(Fleet, TheFirstWithRoom) {
  Case one({device("a", 1, 1), device("b", 2, 1)});
  FleetChoice first = one.choose({0, 1});
  EXPECT_EQ(first.kind, Kind::kReserved);
  EXPECT_EQ(first.device, 0U);
  EXPECT_EQ(first.first_miss, FirstMiss::kNone);
  FleetChoice second = one.choose({0, 1});
  EXPECT_EQ(second.device, 1U) << "b runs it before a lets it wait";
  EXPECT_EQ(second.first_miss, FirstMiss::kBusy);
  FleetChoice third = one.choose({0, 1});
  EXPECT_EQ(third.device, 1U);
  FleetChoice fourth = one.choose({0, 1});
  EXPECT_EQ(fourth.kind, Kind::kQueued);
  EXPECT_EQ(fourth.device, 0U);
  EXPECT_EQ(fourth.first_miss, FirstMiss::kNone);
  FleetChoice fifth = one.choose({0, 1});
  EXPECT_EQ(fifth.kind, Kind::kQueued);
  EXPECT_EQ(fifth.device, 1U);
  EXPECT_EQ(fifth.first_miss, FirstMiss::kBusy);
  EXPECT_EQ(one.choose({0, 1}).kind, Kind::kAllBusy);
  EXPECT_EQ(one.view(0).in_flight, 1);
  EXPECT_EQ(one.view(1).in_flight, 2);
  EXPECT_EQ(one.view(1).waiting, 1);
  first.reservation.release(served(1), one.now());
  EXPECT_EQ(one.turns, (std::vector<std::pair<int, Turn>>{{3, Turn::kGranted}}));
  EXPECT_EQ(one.places.front().device(), 0U);
  EXPECT_EQ(one.view(0).in_flight, 1);
  EXPECT_EQ(one.view(0).waiting, 0);
}

TEST(Fleet, NoLimits) {
  Case one({device("a", 0, 0), device("b", 0, 3)});
  std::vector<FleetChoice> all;
  for (int i = 0; i < 500; ++i) {
    all.push_back(one.choose({0, 1}));
    ASSERT_EQ(all.back().kind, Kind::kReserved);
    ASSERT_EQ(all.back().device, 0U);
  }
  all.clear();
  EXPECT_EQ(one.view(0).in_flight, 0);
}

TEST(Fleet, WaitsEndInOrderOrByDeadlineOrCancelled) {
  Case one({device("a", 1, 0)});
  FleetChoice running = one.choose({0});
  FleetChoice early = one.choose({0}, true, 50);
  FleetChoice gone = one.choose({0});
  FleetChoice last = one.choose({0});
  FleetChoice behind = one.choose({0}, true, 51);
  EXPECT_EQ(one.choose({0}, false).kind, Kind::kAllBusy);
  EXPECT_TRUE(gone.ticket.cancel());
  EXPECT_FALSE(gone.ticket.cancel());
  one.ms += 49;
  one.fleet.tick(one.now());
  EXPECT_TRUE(one.turns.empty());
  one.ms += 1;
  running.reservation.release(served(1), one.now());
  EXPECT_EQ(one.turns,
            (std::vector<std::pair<int, Turn>>{{1, Turn::kExpired}, {3, Turn::kGranted}}));
  one.ms += 1;
  one.fleet.tick(one.now());
  EXPECT_EQ(one.turns.back(), (std::pair<int, Turn>{4, Turn::kExpired}));
  EXPECT_FALSE(last.ticket.cancel()) << "it had its turn";
  one.places.clear();
  EXPECT_EQ(one.view(0).in_flight, 0);
  EXPECT_EQ(one.view(0).waiting, 0);
}

TEST(Fleet, EveryWaitIsBounded) {
  Case one({device("a", 1, 0)}, {.waiting_max = 2, .wait_ms_max = 100});
  const FleetChoice running = one.choose({0});
  FleetChoice first = one.choose({0}, true, 5000);
  FleetChoice second = one.choose({0});
  EXPECT_EQ(one.choose({0}).kind, Kind::kAllBusy) << "of all devices";
  one.ms += 100;
  one.fleet.tick(one.now());
  EXPECT_EQ(one.turns.size(), 2U);
}

TEST(Fleet, RetryAfterIsThePredictedWait) {
  Case one({device("a", 2, 4)});
  one.choose({0}).reservation.release(served(3000), one.now());
  std::vector<FleetChoice> all;
  for (int i = 0; i < 6; ++i) all.push_back(one.choose({0}));
  EXPECT_EQ(one.view(0).backlog_ms, 18000);
  EXPECT_EQ(one.choose({0}).retry_after_ms, 9000);
  all.clear();
  one.places.clear();
  EXPECT_EQ(one.view(0).backlog_ms, 0);
}

TEST(Fleet, AnEjectedDeviceIsPassedAndTriedAgain) {
  Case one({device("a", 0, 0), device("b", 0, 0)});
  one.eject(0);
  FleetChoice other = one.choose({0, 1});
  EXPECT_EQ(other.device, 1U);
  EXPECT_EQ(other.first_miss, FirstMiss::kUnhealthy);
  EXPECT_FALSE(other.is_bypass);
  one.ms += 1000;
  FleetChoice trial = one.choose({0, 1});
  EXPECT_EQ(told(trial.changes), "0 half_open;");
  EXPECT_EQ(trial.device, 0U);
  EXPECT_EQ(one.choose({0, 1}).device, 1U) << "one trial at a time";
  EXPECT_EQ(told(trial.reservation.first_byte(200, one.now())), "0 healthy;");
  EXPECT_EQ(told(trial.reservation.first_byte(200, one.now())), "");
  EXPECT_EQ(one.choose({0, 1}).device, 0U);
  EXPECT_EQ(told(trial.reservation.release(served(1), one.now())), "");
}

TEST(Fleet, ATrialWhoseClientIsGoneMakesRoomForTheNext) {
  Case one({device("a", 0, 0), device("b", 0, 0)});
  one.eject(0);
  one.ms += 1000;
  { const FleetChoice trial = one.choose({0, 1}); }
  EXPECT_EQ(one.view(0).state, DeviceState::kHalfOpen);
  FleetChoice next = one.choose({0, 1});
  EXPECT_EQ(next.device, 0U);
  EXPECT_EQ(told(next.reservation.release(failed(500), one.now())), "0 ejected;");
}

TEST(Fleet, WhenNoneIsHealthy) {
  for (const bool fail_open : {true, false}) {
    Case one({device("a", 1, 1), device("b", 1, 1)}, {.fail_open = fail_open});
    one.eject(0);
    one.ms += 300;
    one.eject(1);
    const FleetChoice choice = one.choose({0, 1});
    EXPECT_EQ(choice.is_bypass, fail_open);
    if (fail_open) {
      EXPECT_EQ(choice.kind, Kind::kReserved);
      EXPECT_EQ(choice.device, 1U) << "the default one";
      EXPECT_EQ(choice.first_miss, FirstMiss::kUnhealthy);
      const FleetChoice second = one.choose({0, 1});
      EXPECT_EQ(second.device, 0U) << "the default one has no room";
      EXPECT_EQ(one.choose({0, 1}).kind, Kind::kNoneHealthy);
    } else {
      EXPECT_EQ(choice.kind, Kind::kNoneHealthy);
      EXPECT_EQ(choice.retry_after_ms, 1000);
    }
  }
  Case starting({device("a", 0, 0)});
  starting.fleet.stopped(0, starting.now());
  EXPECT_EQ(starting.choose({0}).kind, Kind::kNoneHealthy) << "nothing listens there";
  EXPECT_EQ(starting.choose({}).kind, Kind::kNoneHealthy);
}

TEST(Fleet, OutcomesThatCount) {
  const auto check = [](const RequestOutcome& outcome, bool ejects) {
    Case one({device("a", 0, 0), device("b", 0, 0)});
    for (int i = 0; i < 3; ++i) one.choose({0}).reservation.release(outcome, one.now());
    EXPECT_EQ(one.view(0).state, ejects ? DeviceState::kEjected : DeviceState::kHealthy)
        << outcome.status << " " << static_cast<int>(outcome.end);
  };
  check(failed(0), true);
  check({.end = RequestEnd::kFailedBeforeFirstByte, .fault = DeviceSign::kHeadTimeout}, true);
  check(failed(500), true);
  check(failed(503), true);
  check({.end = RequestEnd::kOk, .status = 502}, true);
  check(failed(501), false);
  check(failed(404), false);
  check(failed(429), false);
  check({.end = RequestEnd::kFailedAfter, .status = 200}, false);
  check({.end = RequestEnd::kClientGone, .status = 500}, false);
  check(served(1), false);
}

TEST(Fleet, CoolDown) {
  for (const int status : {429, 503}) {
    Case one({device("a", 1, 0), device("b", 1, 1)});
    one.choose({0}).reservation.release(cooled(status, 2500), one.now());
    EXPECT_EQ(one.view(0).state, DeviceState::kHealthy);
    EXPECT_TRUE(one.view(0).is_cooling);
    const FleetChoice refused = one.choose({0}, false);
    EXPECT_EQ(refused.kind, Kind::kAllBusy);
    EXPECT_EQ(refused.retry_after_ms, 2500);
    EXPECT_EQ(one.choose({0, 1}).first_miss, FirstMiss::kBusy);
    const FleetChoice waits = one.choose({0});
    EXPECT_EQ(waits.kind, Kind::kQueued);
    one.ms += 2499;
    one.fleet.tick(one.now());
    EXPECT_TRUE(one.turns.empty());
    one.ms += 1;
    const FleetChoice late = one.choose({0});
    EXPECT_EQ(late.kind, Kind::kQueued) << "behind the one that came before";
    EXPECT_EQ(one.turns.size(), 1U);
  }
}

TEST(Fleet, WaitersOfALostDeviceChooseAgain) {
  const auto check = [](void (*lose)(Case&, FleetChoice&)) {
    Case one({device("a", 1, 0)});
    FleetChoice running = one.choose({0});
    const FleetChoice first = one.choose({0});
    const FleetChoice second = one.choose({0});
    lose(one, running);
    EXPECT_EQ(one.turns,
              (std::vector<std::pair<int, Turn>>{{1, Turn::kDeviceLost}, {2, Turn::kDeviceLost}}));
    EXPECT_EQ(one.view(0).waiting, 0);
  };
  check([](Case& one, FleetChoice&) { one.fleet.drain(0, one.now()); });
  check([](Case& one, FleetChoice&) { one.fleet.stopped(0, one.now()); });
  check([](Case& one, FleetChoice&) {
    for (int i = 0; i < 3; ++i) one.fleet.probed(0, false, one.now());
  });
  Case closed({device("a", 1, 0)});
  const FleetChoice running = closed.choose({0});
  const FleetChoice waits = closed.choose({0});
  closed.fleet.close();
  EXPECT_EQ(closed.turns, (std::vector<std::pair<int, Turn>>{{1, Turn::kClosed}}));
  EXPECT_EQ(closed.choose({0}).kind, Kind::kAllBusy);
}

TEST(Fleet, Probes) {
  PolicyDevice child = device("c", 0, 0);
  child.command = {"server"};
  PolicyDevice named = device("d", 0, 0);
  named.url = "";
  Case one({device("a", 0, 0), device("b", 0, 0), child, named});
  using Due = std::vector<std::size_t>;
  EXPECT_EQ(one.fleet.take_due_probes(one.now()), (Due{0, 1}));
  EXPECT_EQ(one.fleet.take_due_probes(one.now()), Due{}) << "they are under way";
  one.fleet.probed(0, true, one.now());
  one.ms += 2000;
  EXPECT_EQ(one.fleet.take_due_probes(one.now()), Due{0});
  EXPECT_EQ(told(one.fleet.started(2, one.now())), "2 healthy;");
  EXPECT_EQ(one.fleet.take_due_probes(one.now()), Due{2});
  FleetChoice running = one.choose({1});
  for (int i = 0; i < 3; ++i) {
    running.reservation.progress(one.now());
    one.ms += 1000;
    EXPECT_EQ(told(one.fleet.probed(1, false, one.now())), "") << "it produces tokens";
  }
  EXPECT_EQ(told(one.fleet.resume(1, true, one.now())), "");
  EXPECT_EQ(told(one.fleet.drain(1, one.now())), "1 draining;");
  EXPECT_EQ(told(one.fleet.resume(1, true, one.now())), "1 healthy;");
}

TEST(Fleet, ReservationsAndTicketsMayOutliveTheFleet) {
  Reservation place;
  QueueTicket ticket;
  int closed = 0;
  {
    Fleet fleet(policy_of({device("a", 1, 0)}), {});
    const std::vector<std::size_t> order = {0};
    place = fleet.choose_and_reserve(order, {}, 0).reservation;
    FleetRequest request;
    request.on_turn = [&](QueueTurn turn) { closed += turn.kind == Turn::kClosed; };
    ticket = fleet.choose_and_reserve(order, std::move(request), 0).ticket;
  }
  EXPECT_EQ(closed, 1);
  EXPECT_FALSE(ticket.cancel());
  place.release(served(1), 0);
  EXPECT_FALSE(place.holds());
}

// Each place is given back inside the callback that brought it.
TEST(Fleet, ALongQueueNeedsNoDeepStack) {
  Fleet fleet(policy_of({device("a", 1, 0)}), {});
  const std::vector<std::size_t> order = {0};
  FleetChoice running = fleet.choose_and_reserve(order, {}, 0);
  std::vector<QueueTicket> tickets;
  int called = 0;
  for (int i = 0; i < 60'000; ++i) {
    FleetRequest request;
    request.on_turn = [&](QueueTurn turn) { called += turn.kind == Turn::kGranted; };
    tickets.push_back(fleet.choose_and_reserve(order, std::move(request), 0).ticket);
  }
  running.reservation.release(served(1), 0);
  EXPECT_EQ(called, 60'000);
  EXPECT_EQ(fleet.view(0)[0].in_flight, 0);
}

// Whatever comes in whatever order: limits hold at each step, turns are FIFO, all ends at zero.
TEST(Fleet, CountsReturnToZero) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 draw(seed);
  for (int round = 0; round < 40; ++round) {
    Case one({device("a", 2, 3), device("b", 1, 0), device("c", 0, 0)}, {.waiting_max = 10});
    std::vector<FleetChoice> held;
    std::size_t waits = 0;
    std::size_t cancelled = 0;
    const RequestOutcome outcomes[] = {
        served(20),     failed(0), failed(503),
        cooled(429, 5), {},        {.end = RequestEnd::kFailedAfter, .status = 200}};
    const auto drop_one = [&] {
      if (held.empty()) return;
      std::swap(held[draw() % held.size()], held.back());
      FleetChoice last = std::move(held.back());
      held.pop_back();
      if (last.kind == Kind::kQueued) cancelled += last.ticket.cancel();
      if (draw() % 2 == 0) last.reservation.first_byte(200, one.now());
      if (draw() % 2 == 0) last.reservation.release(outcomes[draw() % 6], one.now());
    };
    for (int step = 0; step < 400; ++step) {
      one.ms += static_cast<std::int64_t>(draw() % 20);
      const std::size_t from = draw() % 2;
      switch (draw() % 8) {
        case 0:
          if (draw() % 2 == 0) {
            one.fleet.probed(draw() % 3, draw() % 2 == 0, one.now());
          } else if (draw() % 10 == 0) {
            one.fleet.drain(draw() % 3, one.now());
          } else {
            one.fleet.resume(draw() % 3, draw() % 4 != 0, one.now());
            one.fleet.started(draw() % 3, one.now());
          }
          break;
        case 1:
          one.fleet.tick(one.now());
          break;
        case 2:
          if (!one.places.empty()) one.places.pop_front();
          break;
        case 3:
        case 4:
          drop_one();
          break;
        default:
          held.push_back(from == 0 ? one.choose({0, 1}, true, 40) : one.choose({1, 0}, true, 0));
          waits += held.back().kind == Kind::kQueued;
      }
      const auto views = one.fleet.view(one.now());
      ASSERT_LE(views[0].in_flight, 2);
      ASSERT_LE(views[0].waiting, 3);
      ASSERT_LE(views[1].in_flight, 1);
      ASSERT_LE(views[0].waiting + views[1].waiting, 10);
      ASSERT_GE(std::min(views[0].backlog_ms, views[1].backlog_ms), 0);
    }
    while (!held.empty()) drop_one();
    while (!one.places.empty()) one.places.pop_front();
    ASSERT_EQ(one.turns.size() + cancelled, waits);
    for (const DeviceView& view : one.fleet.view(one.now())) {
      ASSERT_EQ(view.in_flight, 0);
      ASSERT_EQ(view.waiting, 0);
      ASSERT_EQ(view.backlog_ms, 0);
    }
  }
}

TEST(Fleet, ThreadsEndAtZero) {
  auto fleet =
      std::make_unique<Fleet>(policy_of({device("a", 2, 8), device("b", 1, 0)}), FleetOptions{});
  std::atomic<int> waits{0};
  std::atomic<int> ended{0};
  std::atomic<int> running{0};
  std::atomic<std::int64_t> now{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 draw(t);
      std::vector<FleetChoice> held;
      const std::vector<std::size_t> order = {t % 2, 1 - t % 2};
      for (int i = 0; i < 1500; ++i) {
        const std::int64_t now_ns = now += kMsNs;
        FleetRequest request;
        request.class_name = "code";
        request.deadline_ns = now_ns + 50 * kMsNs;
        request.on_turn = [&](QueueTurn turn) {
          ++ended;
          if (turn.kind == Turn::kGranted && running.fetch_add(1) >= 3) ADD_FAILURE();
          if (turn.kind == Turn::kGranted) --running;
        };
        held.push_back(fleet->choose_and_reserve(order, std::move(request), now_ns));
        if (held.back().kind == Kind::kQueued) ++waits;
        if (held.back().kind == Kind::kReserved) held.back().reservation.progress(now_ns);
        if (draw() % 3 == 0) fleet->probed(draw() % 2, draw() % 3 != 0, now_ns);
        if (draw() % 4 == 0) fleet->tick(now_ns);
        if (draw() % 3 == 0) {
          for (FleetChoice& one : held) {
            if (one.kind == Kind::kQueued && one.ticket.cancel()) ++ended;
            one.reservation.release(draw() % 5 == 0 ? failed(0) : served(2), now_ns);
          }
          held.clear();
        }
      }
      for (FleetChoice& one : held) {
        if (one.kind == Kind::kQueued && one.ticket.cancel()) ++ended;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(ended, waits);
  EXPECT_GT(waits, 0);
  for (const DeviceView& view : fleet->view(now)) {
    EXPECT_EQ(view.in_flight, 0);
    EXPECT_EQ(view.waiting, 0);
    EXPECT_EQ(view.backlog_ms, 0);
  }
}

}  // namespace
}  // namespace layard::gateway
