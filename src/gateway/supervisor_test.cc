#include "gateway/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>

#include "support/child_world.h"
#include "support/temp_dir.h"

namespace layard::gateway {
namespace {

// A supervisor with short waits, and what it told.
class World {
 public:
  explicit World(const RestartRule& rule) : World(rule, kOwnProgram) {}
  World(const RestartRule& rule, const std::string& guard_program)
      : supervisor(options(rule, guard_program)) {}

  Status start(const std::string& device, const std::string& command, std::int64_t stop_ms) {
    SupervisedChild child{.device = device, .spec = testing::shell(command)};
    child.spec.stop_ms = stop_ms;
    return supervisor.start(std::move(child));
  }

  bool reaches(const std::string& device, ChildState state) {
    return testing::wait_until([&] {
      const auto status = supervisor.status(device);
      return status && status->state == state;
    });
  }
  bool prints(const std::string& device, const std::string& end) {
    return testing::wait_until([&] { return supervisor.output(device).ends_with(end); });
  }

  std::vector<std::string> states(const std::string& device) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (const ChildChange& change : changes_) {
      if (change.device == device) out.emplace_back(child_state_name(change.status.state));
    }
    return out;
  }
  std::vector<ChildChange> changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }

 private:
  SupervisorOptions options(const RestartRule& rule, const std::string& guard_program) {
    SupervisorOptions out;
    out.restart = rule;
    out.guard_program = guard_program;
    out.on_change = [this](const ChildChange& change) {
      const std::lock_guard lock(mutex_);
      changes_.push_back(change);
    };
    return out;
  }

  mutable std::mutex mutex_;
  std::vector<ChildChange> changes_;

 public:
  Supervisor supervisor;  // last: its thread uses what is above
};

using Words = std::vector<std::string>;
constexpr RestartRule kQuick{.first_wait_ms = 20, .wait_ms_max = 100};
constexpr RestartRule kSlow{.first_wait_ms = 3600000, .wait_ms_max = 3600000};

std::int64_t elapsed_ms(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               since)
      .count();
}

TEST(Supervisor, RunsAndStops) {
  World world(kSlow);
  ASSERT_TRUE(world.start("cpu0", "echo $$; exec sleep 1000", 60000).ok());
  ASSERT_TRUE(world.prints("cpu0", "\n"));
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu0")->pid > 0; }));
  const auto status = world.supervisor.status("cpu0");
  EXPECT_EQ(status->state, ChildState::kStarting);
  EXPECT_EQ(testing::pids_in(world.supervisor.output("cpu0")), std::vector{status->pid});
  EXPECT_TRUE(world.supervisor.mark_ready("cpu0", status->pid + 1).ok()) << "of another process";
  EXPECT_TRUE(world.supervisor.mark_ready("cpu0", status->pid).ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kRunning));
  EXPECT_TRUE(world.supervisor.stop("cpu0").ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kStopped));
  EXPECT_EQ(world.states("cpu0"), (Words{"starting", "running", "stopping", "stopped"}));
  EXPECT_EQ(testing::process_state(status->pid), '\0');
  const auto after = world.supervisor.status("cpu0");
  EXPECT_EQ(after->pid, -1);
  EXPECT_EQ(after->why, "signal 15 (TERM) ended it");
  EXPECT_EQ(after->starts, 1U);
  // A stopped device may be started anew, also with another command.
  ASSERT_TRUE(world.start("cpu0", "echo again; exec sleep 1000", 60000).ok());
  EXPECT_TRUE(world.prints("cpu0", "again\n"));
  EXPECT_TRUE(world.supervisor.stop_all(60000));
}

TEST(Supervisor, StartsAgain) {
  World world(kQuick);
  ASSERT_TRUE(world.start("cpu0", "echo once; exit 3", 60000).ok());
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu0")->starts >= 4; }));
  EXPECT_TRUE(world.supervisor.stop_all(60000));
  std::vector<std::int64_t> waits;
  for (const ChildChange& change : world.changes()) {
    if (change.status.state != ChildState::kBackingOff) continue;
    EXPECT_EQ(change.status.why, "it ended with exit status 3");
    waits.push_back(change.status.wait_ms);
  }
  ASSERT_GE(waits.size(), 3U);
  waits.resize(3);
  EXPECT_EQ(waits, (std::vector<std::int64_t>{20, 40, 80}));
  EXPECT_TRUE(world.supervisor.output("cpu0").starts_with("once\nonce\n")) << "of all starts";
}

TEST(Supervisor, UnknownCommandBacksOff) {
  World world(kQuick);
  ASSERT_TRUE(
      world.supervisor.start({.device = "cpu0", .spec = {.argv = {"no-such-program"}}}).ok());
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu0")->failures >= 5; }));
  EXPECT_GE(elapsed_ms(began), 20 + 40 + 80 + 100) << "it does not spin";
  const auto status = world.supervisor.status("cpu0");
  EXPECT_EQ(status->state, ChildState::kBackingOff);
  EXPECT_EQ(status->pid, -1);
  ASSERT_TRUE(status->error.has_value());
  EXPECT_EQ(status->error->code, ErrorCode::kIo);
  EXPECT_EQ(status->why,
            "cannot start 'no-such-program': it is in no folder of PATH; install it or "
            "give its whole path");
}

TEST(Supervisor, GivesUpWhenTold) {
  RestartRule rule = kQuick;
  rule.failures_max = 3;
  World world(rule);
  ASSERT_TRUE(world.start("cpu0", "exit 1", 60000).ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kFailed));
  const auto status = world.supervisor.status("cpu0");
  EXPECT_EQ(status->starts, 3U);
  EXPECT_EQ(status->why, "it ended with exit status 1; given up after 3 ends in a row");
  EXPECT_TRUE(world.supervisor.restart("cpu0", "a person asked").ok());
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu0")->starts == 6; }));
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kFailed));
  EXPECT_TRUE(world.supervisor.stop_all(60000));
  EXPECT_EQ(world.supervisor.status("cpu0")->state, ChildState::kStopped);
}

TEST(Supervisor, StopDuringBackOffReturnsAtOnce) {
  World world(kSlow);
  ASSERT_TRUE(world.start("cpu0", "exit 1", 60000).ok());
  ASSERT_TRUE(world.start("cpu1", "exit 1", 60000).ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kBackingOff));
  ASSERT_TRUE(world.reaches("cpu1", ChildState::kBackingOff));
  EXPECT_TRUE(world.supervisor.stop("cpu0").ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kStopped));
  EXPECT_EQ(world.supervisor.status("cpu1")->state, ChildState::kBackingOff);
  EXPECT_TRUE(world.supervisor.stop_all(600000));
  EXPECT_EQ(world.states("cpu0"), (Words{"starting", "backing-off", "stopped"}));
}

TEST(Supervisor, RestartStormIsBounded) {
  World world(kSlow);
  ASSERT_TRUE(world.start("cpu0", "echo $$; exec sleep 1000", 60000).ok());
  ASSERT_TRUE(world.prints("cpu0", "\n"));
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(world.supervisor.restart("cpu0", "not well").ok());
  ASSERT_TRUE(world.reaches("cpu0", ChildState::kBackingOff));
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(world.supervisor.restart("cpu0", "not well").ok());
  EXPECT_TRUE(world.supervisor.stop_all(60000));
  EXPECT_EQ(world.states("cpu0"), (Words{"starting", "stopping", "backing-off", "stopped"}));
  EXPECT_EQ(world.supervisor.status("cpu0")->starts, 1U);
  EXPECT_EQ(world.changes()[2].status.why, "not well; signal 15 (TERM) ended it");
}

TEST(Supervisor, NotReadyInTime) {
  World world(kQuick);
  SupervisedChild child{.device = "cpu0", .spec = testing::shell("exec sleep 1000")};
  child.ready_ms = 50;
  ASSERT_TRUE(world.supervisor.start(child).ok());
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu0")->starts >= 2; }));
  const auto changes = world.changes();
  ASSERT_GE(changes.size(), 3U);
  EXPECT_EQ(changes[1].status.why, "it was not ready in 50 ms");
  EXPECT_EQ(changes[2].status.why, "it was not ready in 50 ms; signal 15 (TERM) ended it");
  // Who is ready has all the time there is.
  child.device = "cpu1";
  child.ready_ms = 60000;
  ASSERT_TRUE(world.supervisor.start(child).ok());
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("cpu1")->pid > 0; }));
  EXPECT_TRUE(world.supervisor.mark_ready("cpu1", world.supervisor.status("cpu1")->pid).ok());
  EXPECT_TRUE(world.reaches("cpu1", ChildState::kRunning));
}

TEST(Supervisor, StopAllKillsAfterItsBound) {
  World world(kSlow);
  ASSERT_TRUE(world.start("kind", "echo $$; exec sleep 1000", 600000).ok());
  ASSERT_TRUE(
      world.start("deaf", "trap '' TERM; echo $$; while :; do sleep 0.1; done", 600000).ok());
  ASSERT_TRUE(world.prints("kind", "\n"));
  ASSERT_TRUE(world.prints("deaf", "\n"));
  ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status("deaf")->pid > 0; }));
  const pid_t deaf = world.supervisor.status("deaf")->pid;
  EXPECT_FALSE(world.supervisor.stop_all(200)) << "it had to be killed";
  EXPECT_EQ(world.supervisor.status("kind")->why, "signal 15 (TERM) ended it");
  EXPECT_EQ(world.supervisor.status("deaf")->why, "signal 9 (KILL) ended it");
  EXPECT_EQ(testing::process_state(deaf), '\0');
  for (const auto& [name, status] : world.supervisor.statuses()) {
    EXPECT_EQ(status.state, ChildState::kStopped) << name;
  }
  const Status late = world.start("late", "exit 0", 0);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(world.supervisor.restart("kind", "").error().code, ErrorCode::kCancelled);
}

TEST(Supervisor, DestructionKills) {
  std::vector<pid_t> pids;
  {
    World world(kSlow);
    for (const char* device : {"a", "b", "c"}) {
      ASSERT_TRUE(world.start(device, "trap '' TERM; echo $$; sleep 1000", 600000).ok());
      ASSERT_TRUE(world.prints(device, "\n"));
      ASSERT_TRUE(testing::wait_until([&] { return world.supervisor.status(device)->pid > 0; }));
      pids.push_back(world.supervisor.status(device)->pid);
    }
  }
  for (const pid_t pid : pids) EXPECT_EQ(testing::process_state(pid), '\0');
}

TEST(Supervisor, ManyAtOnce) {
  World world(kQuick);
  constexpr int kDevices = 12;
  for (int i = 0; i < kDevices; ++i) {
    ASSERT_TRUE(world.start("d" + std::to_string(i), "echo up; exec sleep 1000", 60000).ok());
  }
  for (int i = 0; i < kDevices; ++i) EXPECT_TRUE(world.prints("d" + std::to_string(i), "up\n"));
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&world, caller] {
      for (int i = 0; i < 50; ++i) {
        const std::string device = "d" + std::to_string((caller + i) % kDevices);
        const auto status = world.supervisor.status(device);
        (void)world.supervisor.mark_ready(device, status->pid);
        if (i % 10 == 0) (void)world.supervisor.restart(device, "now and then");
        (void)world.supervisor.output(device);
      }
    });
  }
  callers.clear();
  EXPECT_TRUE(world.supervisor.stop_all(60000));
}

TEST(Supervisor, PortIsReplaced) {
  World world(kSlow);
  SupervisedChild child{.device = "cpu0", .spec = testing::shell("echo $0; exec sleep 1000")};
  child.spec.argv.emplace_back("--port={port}");
  child.port = 8123;
  ASSERT_TRUE(world.supervisor.start(child).ok());
  EXPECT_TRUE(world.prints("cpu0", "--port=8123\n")) << world.supervisor.output("cpu0");
}

TEST(Supervisor, Refusals) {
  World world(kSlow);
  const auto check = [&](SupervisedChild child, const std::string& part) {
    const Status status = world.supervisor.start(std::move(child));
    ASSERT_FALSE(status.ok()) << part;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  check({.device = "", .spec = testing::shell("")}, "needs a name");
  check({.device = std::string(257, 'x'), .spec = testing::shell("")}, "needs a name");
  check({.device = "d", .spec = {}}, "device 'd' cannot run: command is empty");
  check({.device = "d", .spec = {.argv = {"{port}"}}}, "device 'd' cannot run: command[0] has");
  ASSERT_TRUE(world.start("d", "exit 1", 0).ok());
  check({.device = "d", .spec = testing::shell("")}, "device 'd' is ");
  EXPECT_EQ(world.supervisor.stop("e").error().message, "device 'e' was never started");
  EXPECT_EQ(world.supervisor.restart("e", "").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(world.supervisor.mark_ready("e", 1).error().code, ErrorCode::kInvalidRequest);
  EXPECT_FALSE(world.supervisor.status("e").has_value());
  EXPECT_EQ(world.supervisor.output("e"), "");
}

// Names that are not used any more make room; those in use do not.
TEST(Supervisor, DevicesAreBounded) {
  World world(kSlow, "/nowhere/layard");  // starts that fail are enough, and quick
  for (std::size_t i = 0; i < kSupervisedMax; ++i) {
    ASSERT_TRUE(
        world.supervisor.start({.device = "d" + std::to_string(i), .spec = {.argv = {"/nowhere"}}})
            .ok());
  }
  const SupervisedChild more{.device = "more", .spec = {.argv = {"/nowhere"}}};
  const Status full = world.supervisor.start(more);
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message.find("is one too many: 256 may run"), std::string::npos);
  EXPECT_TRUE(world.supervisor.stop("d7").ok());
  ASSERT_TRUE(world.reaches("d7", ChildState::kStopped));
  EXPECT_TRUE(world.supervisor.start(more).ok());
  EXPECT_FALSE(world.supervisor.status("d7").has_value());
}

TEST(Supervisor, StateNames) {
  const std::pair<ChildState, std::string_view> rows[] = {
      {ChildState::kStarting, "starting"}, {ChildState::kRunning, "running"},
      {ChildState::kStopping, "stopping"}, {ChildState::kBackingOff, "backing-off"},
      {ChildState::kStopped, "stopped"},   {ChildState::kFailed, "failed"}};
  for (const auto& [state, name] : rows) EXPECT_EQ(child_state_name(state), name);
}

}  // namespace
}  // namespace layard::gateway
