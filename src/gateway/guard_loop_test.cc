#include "gateway/guard_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "gateway/child_process.h"
#include "support/child_world.h"

namespace layard::gateway {
namespace {

// Two shells that ignore SIGTERM: a child of the command, and one in a session of its own whose
// parent is gone. Their numbers are printed, then the command does `then`.
std::string family(const std::string& then) {
  return "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.2; done' & "
         "sh -c 'setsid sh -c \"trap \\\"\\\" TERM; echo \\$\\$; while :; do sleep 0.2; done\" &' "
         "& sleep 0.5; echo $$; " +
         then;
}

struct Started {
  std::unique_ptr<OutputRing> output = std::make_unique<OutputRing>(4000);
  std::unique_ptr<ChildProcess> child;
  std::vector<pid_t> pids;  // that it printed
};

// A command that prints `count` numbers of processes.
Started start(const std::string& command, std::size_t count, std::int64_t stop_ms) {
  Started out;
  ChildSpec spec = testing::shell(command);
  spec.stop_ms = stop_ms;
  auto child = ChildProcess::start(spec, kOwnProgram, *out.output);
  if (!child.ok()) return out;
  out.child = *std::move(child);
  testing::wait_until([&] {
    out.child->pump();
    out.pids = testing::pids_in(out.output->text());
    return out.pids.size() >= count && out.output->text().ends_with("\n");
  });
  return out;
}

void expect_all_gone(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    EXPECT_TRUE(testing::wait_until([pid] { return testing::is_gone(pid); })) << pid;
  }
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

TEST(GuardLoop, StopAsksFirst) {
  Started run =
      start("trap 'echo bye; exit 7' TERM; echo $$; while :; do sleep 0.05; done", 1, 600000);
  ASSERT_EQ(run.pids.size(), 1U);
  run.child->stop();
  EXPECT_EQ(testing::wait_for_end(*run.child), ChildEnd{.exit_code = 7});
  EXPECT_TRUE(run.output->text().ends_with("bye\n")) << run.output->text();
}

TEST(GuardLoop, WhoIgnoresTheStopIsKilled) {
  Started run = start("trap '' TERM; echo $$; while :; do sleep 0.05; done", 1, 300);
  ASSERT_EQ(run.pids.size(), 1U);
  const std::int64_t asked_ms = now_ms();
  run.child->stop();
  EXPECT_EQ(testing::wait_for_end(*run.child), ChildEnd{.signal = SIGKILL});
  EXPECT_GE(now_ms() - asked_ms, 300);
  expect_all_gone(run.pids);
}

TEST(GuardLoop, StopTakesTheWholeFamily) {
  Started run = start(family("wait"), 3, 200);
  ASSERT_EQ(run.pids.size(), 3U);
  run.child->stop();
  ASSERT_TRUE(testing::wait_for_end(*run.child).has_value());
  for (const pid_t pid : run.pids) EXPECT_EQ(testing::process_state(pid), '\0') << "or a zombie";
}

TEST(GuardLoop, KillTakesTheWholeFamily) {
  Started run = start(family("wait"), 3, 600000);
  ASSERT_EQ(run.pids.size(), 3U);
  run.child->kill();
  EXPECT_EQ(testing::wait_for_end(*run.child), ChildEnd{.signal = SIGKILL});
  for (const pid_t pid : run.pids) EXPECT_EQ(testing::process_state(pid), '\0') << "or a zombie";
}

// What a command that ended left behind would hold its port and its memory.
TEST(GuardLoop, NothingOutlivesTheCommand) {
  Started run = start(family("exit 5"), 3, 600000);
  ASSERT_EQ(run.pids.size(), 3U);
  EXPECT_EQ(testing::wait_for_end(*run.child), ChildEnd{.exit_code = 5});
  for (const pid_t pid : run.pids) EXPECT_EQ(testing::process_state(pid), '\0') << "or a zombie";
}

TEST(GuardLoop, SignalToTheGuardStops) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Started run = start("echo $$; exec sleep 1000", 1, 600000);
    ASSERT_EQ(run.pids.size(), 1U);
    ::kill(run.child->guard_pid(), signal);
    EXPECT_EQ(testing::wait_for_end(*run.child), ChildEnd{.signal = SIGTERM});
  }
  // This one says that the gateway has ended; while it has not, it says nothing.
  Started run = start("echo $$; exec sleep 1000", 1, 600000);
  ::kill(run.child->guard_pid(), SIGUSR1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.child->pump();
  EXPECT_FALSE(run.child->ended().has_value());
}

TEST(GuardLoop, KilledGuardTakesItsCommandAlong) {
  Started run = start("sh -c 'echo $$; exec sleep 1000' & echo $$; wait", 2, 600000);
  ASSERT_EQ(run.pids.size(), 2U);
  ::kill(run.child->guard_pid(), SIGKILL);
  const ChildEnd lost{.signal = SIGKILL, .is_guard_lost = true};
  EXPECT_EQ(testing::wait_for_end(*run.child), lost);
  expect_all_gone(run.pids);
}

// A gateway that is killed cannot stop anything itself.
TEST(GuardLoop, NothingOutlivesAKilledGateway) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  std::string words[] = {"layard", testing::kParentRole,
                         "sh -c 'trap \"\" TERM; while :; do sleep 0.2; done' & echo $! $$; wait"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t gateway = -1;
  const std::string program = testing::own_program();
  ASSERT_EQ(::posix_spawn(&gateway, program.c_str(), &actions, nullptr, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  write_end.close();
  std::string text;
  std::array<char, 200> bytes;
  for (ssize_t count = 1; count > 0 && !text.ends_with("\n");) {
    count = ::read(read_end.get(), bytes.data(), bytes.size());
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const std::vector<pid_t> pids = testing::pids_in(text);  // of guard, grandchild, command
  ASSERT_EQ(pids.size(), 3U) << text;
  for (const pid_t pid : pids) EXPECT_FALSE(testing::is_gone(pid));
  ::kill(gateway, SIGKILL);
  EXPECT_EQ(::waitpid(gateway, nullptr, 0), gateway);
  expect_all_gone(pids);
}

}  // namespace
}  // namespace layard::gateway
