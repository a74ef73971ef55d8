// Seeded arrivals, cancellations and deadlines against the state machine of one device, on a clock
// of their own for thousands of virtual seconds. The test keeps its own books and compares.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/device_queue.h"

namespace layard::scheduler {
namespace {

// The scale of everything that happens.
constexpr std::int64_t kUnit = 20'000'000;

// What the test knows about a job that has not ended.
struct Live {
  JobSpec spec;
  bool running = false;
  bool cancelled = false;
};

// How long a client has been passed over, in batches, and how long it may be.
struct Turn {
  std::size_t passed = 0;
  std::size_t bound = 0;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const DeviceOptions& options)
      : random_(seed), options_(options), queue_(options) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      now_ns_ += pick(0, 3) * kUnit / 2;
      act();
      settle();
      check_books();
    }
    drain();
  }

  std::int64_t now_ns() const { return now_ns_; }
  std::array<std::uint64_t, kEndings> ended() const { return ended_; }
  std::array<std::uint64_t, kRefusalReasons> refused() const { return refused_; }

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) {  // both included
    const auto range = static_cast<std::uint64_t>(to - from + 1);
    return from + static_cast<std::int64_t>(random_() % range);
  }

  void act() {
    // Waves: mostly arrivals for a while, then mostly work.
    const bool busy = (now_ns_ / (500 * kUnit)) % 3 != 0;
    const std::int64_t choice = pick(0, 99);
    if (choice < (busy ? 60 : 15)) {
      arrive();
    } else if (choice < 65) {
      cancel();
    } else if (choice < 70) {
      queue_.tick(now_ns_, new_ended_);
    } else if (batch_.empty()) {
      start();
    } else if (now_ns_ >= batch_end_ns_) {
      finish();
    }
  }

  JobSpec random_spec() {
    JobSpec spec;
    // Client 0 floods; the others come now and then.
    spec.client = pick(0, 1) == 0 ? 0 : static_cast<ClientId>(pick(1, 9));
    spec.key = static_cast<BatchKey>(pick(0, 2));
    spec.cost = pick(0, 19) == 0 ? pick(-2, 300) : pick(1, 40);
    if (pick(0, 2) == 0) spec.deadline_ns = now_ns_ + pick(-2, 400) * kUnit;
    if (pick(0, 9) == 0) spec.service_estimate_ms = static_cast<double>(pick(0, 50));
    return spec;
  }

  void arrive() {
    const JobSpec spec = random_spec();
    const std::set<ClientId> before = waiting_clients();
    const bool idle = live_.empty();
    auto submitted = queue_.submit(spec, now_ns_, new_ended_);
    settle();
    if (const auto* refusal = std::get_if<Refusal>(&submitted)) {
      ++refused_[static_cast<std::size_t>(refusal->reason)];
      check_refusal(spec, *refusal, idle);
      return;
    }
    const auto number = std::get<std::uint64_t>(submitted);
    EXPECT_GT(number, last_number_);
    last_number_ = number;
    ++admitted_;
    const bool new_client = !waiting_clients().contains(spec.client);
    live_.emplace(number, Live{spec, false, false});
    if (new_client) turns_[spec.client] = {0, waiting_clients().size()};
  }

  void check_refusal(const JobSpec& spec, const Refusal& refusal, bool idle) {
    const std::size_t jobs = count_queued([](const Live&) { return true; });
    const std::size_t own =
        count_queued([&](const Live& live) { return live.spec.client == spec.client; });
    switch (refusal.reason) {
      case RefusalReason::kInvalid:
        EXPECT_TRUE(spec.cost < 1 || spec.cost > options_.queue_cost_max);
        return;
      case RefusalReason::kQueueFull:
        EXPECT_TRUE(jobs == options_.queue_jobs_max ||
                    queued_cost() + spec.cost > options_.queue_cost_max);
        break;
      case RefusalReason::kClientFull:
        EXPECT_EQ(own, options_.client_jobs_max);
        break;
      case RefusalReason::kClientsFull:
        EXPECT_EQ(waiting_clients().size(), options_.clients_max);
        EXPECT_EQ(own, 0U);
        break;
      case RefusalReason::kDeadline:
        EXPECT_TRUE(spec.deadline_ns.has_value());
        EXPECT_TRUE(!idle || spec.deadline_ns <= now_ns_);
        break;
      case RefusalReason::kClosed:
        ADD_FAILURE() << "refused as closed";
    }
    EXPECT_GE(refusal.retry_after_ms.value_or(0), 1);
    EXPECT_LE(refusal.retry_after_ms.value_or(0), options_.retry_after_ms_max);
  }

  void cancel() {
    if (last_number_ == 0) return;
    const auto number = static_cast<std::uint64_t>(
        pick(std::max<std::int64_t>(1, static_cast<std::int64_t>(last_number_) - 60),
             static_cast<std::int64_t>(last_number_)));
    const auto found = live_.find(number);
    const bool expected = found != live_.end() && !found->second.cancelled;
    if (expected) found->second.cancelled = true;
    EXPECT_EQ(queue_.cancel(number, now_ns_, new_ended_), expected) << number;
  }

  void start() {
    batch_ = queue_.next_batch(now_ns_, new_ended_);
    settle();
    const std::size_t queued = count_queued([](const Live&) { return true; });
    EXPECT_EQ(batch_.empty(), queued == 0);
    if (batch_.empty()) return;
    check_batch();
    for (const std::uint64_t number : batch_) live_.at(number).running = true;
    check_nothing_more_fitted();
    std::int64_t cost = 0;
    for (const std::uint64_t number : batch_) cost += live_.at(number).spec.cost;
    batch_end_ns_ = now_ns_ + kUnit / 2 + cost * pick(kUnit / 4, kUnit / 2);
    ++batches_;
    started_ += batch_.size();
    turn();
  }

  void check_batch() {
    EXPECT_LE(batch_.size(), options_.batch_jobs_max);
    std::int64_t cost = 0;
    std::map<ClientId, std::uint64_t> last_of_client;
    for (const std::uint64_t number : batch_) {
      const Live& live = live_.at(number);
      EXPECT_FALSE(live.running);
      EXPECT_EQ(live.spec.key, live_.at(batch_.front()).spec.key);
      EXPECT_TRUE(!live.spec.deadline_ns.has_value() || *live.spec.deadline_ns > now_ns_);
      cost += live.spec.cost;
      // First in, first out: whatever else of this client waits or went before is in order.
      EXPECT_GT(number, last_of_client[live.spec.client]);
      last_of_client[live.spec.client] = number;
    }
    EXPECT_TRUE(cost <= options_.batch_cost_max || batch_.size() == 1);
    for (const auto& [number, live] : live_) {
      if (live.running || std::count(batch_.begin(), batch_.end(), number) > 0) continue;
      const auto last = last_of_client.find(live.spec.client);
      EXPECT_TRUE(last == last_of_client.end() || number > last->second);
    }
  }

  void check_nothing_more_fitted() {
    std::int64_t cost = 0;
    for (const std::uint64_t number : batch_) cost += live_.at(number).spec.cost;
    if (batch_.size() == options_.batch_jobs_max) return;
    std::set<ClientId> seen;
    for (const auto& [number, live] : live_) {
      if (live.running || !seen.insert(live.spec.client).second) continue;
      EXPECT_TRUE(live.spec.key != live_.at(batch_.front()).spec.key ||
                  cost + live.spec.cost > options_.batch_cost_max)
          << "job " << number << " was left behind";
    }
  }

  // Who was passed over by this batch, and whether for too long.
  void turn() {
    std::set<ClientId> served;
    for (const std::uint64_t number : batch_) served.insert(live_.at(number).spec.client);
    const std::set<ClientId> waiting = waiting_clients();
    std::erase_if(turns_, [&](const auto& turn) { return !waiting.contains(turn.first); });
    for (auto& [client, turn] : turns_) {
      if (served.contains(client)) {
        turn = {0, waiting.size()};
      } else {
        ++turn.passed;
        EXPECT_LT(turn.passed, turn.bound) << "client " << client;
      }
    }
  }

  void finish() {
    std::vector<std::optional<Error>> errors(batch_.size());
    for (auto& error : errors) {
      if (pick(0, 19) == 0) error = Error{ErrorCode::kUnsupportedShape, "scripted"};
    }
    errors_.clear();
    for (std::size_t i = 0; i < batch_.size(); ++i) errors_[batch_[i]] = errors[i].has_value();
    queue_.finish(errors, now_ns_, new_ended_);
    settle();
    for (const std::uint64_t number : batch_) EXPECT_FALSE(live_.contains(number));
    batch_.clear();
  }

  // Takes note of what ended; each job once, and as it had to.
  void settle() {
    for (const Ended& job : new_ended_) {
      const auto found = live_.find(job.number);
      ASSERT_NE(found, live_.end()) << "job " << job.number << " ended twice or never lived";
      const Live& live = found->second;
      ++ended_[static_cast<std::size_t>(job.ending)];
      EXPECT_EQ(job.error.has_value(), job.ending != Ending::kCompleted);
      EXPECT_EQ(job.times.ended_ns, now_ns_);
      EXPECT_EQ(job.times.dispatched_ns.has_value(), live.running);
      EXPECT_EQ(job.batch_jobs, live.running ? batch_.size() : 0U);
      EXPECT_EQ(job.ending == Ending::kCancelled, live.cancelled);
      if (job.ending == Ending::kExpired) {
        EXPECT_FALSE(live.running);
        EXPECT_LE(live.spec.deadline_ns.value(), now_ns_);
      }
      if (job.ending == Ending::kCompleted) {
        EXPECT_FALSE(errors_.at(job.number));
      }
      if (job.ending == Ending::kFailed) {
        EXPECT_TRUE(errors_.at(job.number));
      }
      live_.erase(found);
    }
    new_ended_.clear();
    const std::set<ClientId> waiting = waiting_clients();
    std::erase_if(turns_, [&](const auto& turn) { return !waiting.contains(turn.first); });
  }

  void check_books() {
    const DeviceMetrics metrics = queue_.metrics(now_ns_);
    std::uint64_t ended = 0;
    for (const std::uint64_t count : metrics.ended) ended += count;
    EXPECT_EQ(metrics.admitted, admitted_);
    EXPECT_EQ(metrics.admitted, metrics.queued_jobs + metrics.running_jobs + ended);
    EXPECT_EQ(metrics.ended, ended_);
    EXPECT_EQ(metrics.refused, refused_);
    EXPECT_EQ(metrics.queued_jobs + metrics.running_jobs, live_.size());
    EXPECT_EQ(metrics.running_jobs, batch_.size());
    EXPECT_EQ(metrics.queued_cost, queued_cost());
    EXPECT_EQ(metrics.clients, waiting_clients().size());
    EXPECT_EQ(metrics.queue_wait.count, started_);
    EXPECT_EQ(metrics.batch_jobs, started_);
    EXPECT_EQ(metrics.batches, batches_);
    EXPECT_LE(metrics.queued_jobs, options_.queue_jobs_max);
    EXPECT_LE(metrics.queued_cost, options_.queue_cost_max);
    EXPECT_LE(metrics.clients, options_.clients_max);
    EXPECT_LE(queue_.service().keys(), options_.keys_max);
    EXPECT_GE(metrics.backlog_ms, 0);
    std::uint64_t waits = 0;
    for (const std::uint64_t count : metrics.queue_wait.buckets) waits += count;
    EXPECT_EQ(waits, metrics.queue_wait.count);
  }

  void drain() {
    queue_.stop_admitting();
    if (!batch_.empty()) finish();
    for (int i = 0; i < 5; ++i) {
      start();
      if (!batch_.empty()) finish();
    }
    queue_.close_queued(now_ns_, new_ended_);
    settle();
    check_books();
    EXPECT_TRUE(live_.empty());
    EXPECT_EQ(queue_.snapshot(now_ns_).backlog_ms, 0);
    EXPECT_FALSE(queue_.next_deadline_ns().has_value());
  }

  template <class Condition>
  std::size_t count_queued(Condition condition) const {
    return static_cast<std::size_t>(std::count_if(live_.begin(), live_.end(), [&](const auto& one) {
      return !one.second.running && condition(one.second);
    }));
  }
  std::int64_t queued_cost() const {
    std::int64_t cost = 0;
    for (const auto& [number, live] : live_) cost += live.running ? 0 : live.spec.cost;
    return cost;
  }
  std::set<ClientId> waiting_clients() const {
    std::set<ClientId> clients;
    for (const auto& [number, live] : live_) {
      if (!live.running) clients.insert(live.spec.client);
    }
    return clients;
  }

  std::mt19937_64 random_;
  DeviceOptions options_;
  DeviceQueue queue_;
  std::int64_t now_ns_ = 0;
  std::int64_t batch_end_ns_ = 0;
  EndedJobs new_ended_;
  std::map<std::uint64_t, Live> live_;
  std::map<ClientId, Turn> turns_;
  std::vector<std::uint64_t> batch_;
  std::map<std::uint64_t, bool> errors_;  // of the batch that finished last
  std::uint64_t last_number_ = 0;
  std::uint64_t admitted_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t started_ = 0;
  std::array<std::uint64_t, kEndings> ended_{};
  std::array<std::uint64_t, kRefusalReasons> refused_{};
};

TEST(SchedulerSimulation, InvariantsHoldBySeed) {
  std::array<std::uint64_t, kEndings> ended{};
  std::array<std::uint64_t, kRefusalReasons> refused{};
  std::int64_t virtual_ns = 0;
  for (std::uint64_t seed = 1; seed <= 24 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DeviceOptions options;
    options.queue_jobs_max = 10 + 5 * (seed % 5);
    options.queue_cost_max = 250 + 100 * static_cast<std::int64_t>(seed % 7);
    options.client_jobs_max = 8 + seed % 9;
    options.clients_max = 4 + seed % 7;
    options.batch_cost_max = 1 + 15 * static_cast<std::int64_t>(seed % 6);
    options.batch_jobs_max = 1 + seed % 8;
    options.keys_max = 1 + seed % 3;
    Simulation simulation(seed, options);
    simulation.run(8000);
    virtual_ns += simulation.now_ns();
    for (std::size_t i = 0; i < kEndings; ++i) ended[i] += simulation.ended()[i];
    for (std::size_t i = 0; i < kRefusalReasons; ++i) refused[i] += simulation.refused()[i];
  }
  // A simulation that never reaches a corner shows nothing about it.
  for (std::size_t i = 0; i < kEndings; ++i) {
    EXPECT_GT(ended[i], 20U) << ending_name(static_cast<Ending>(i));
  }
  for (std::size_t i = 0; i + 1 < kRefusalReasons; ++i) {
    EXPECT_GT(refused[i], 20U) << refusal_reason_name(static_cast<RefusalReason>(i));
  }
  EXPECT_GT(virtual_ns, 2000 * std::int64_t{1'000'000'000});
}

}  // namespace
}  // namespace layard::scheduler
