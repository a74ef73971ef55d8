#include "gateway/child_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "support/child_world.h"
#include "support/ordinary_user.h"
#include "support/temp_dir.h"

namespace layard::gateway {
namespace {

// Whether this process has a child, ended or not, that nobody waited for.
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

TEST(ChildProcess, Ends) {
  const std::pair<std::string, ChildEnd> rows[] = {
      {"exit 0", {.exit_code = 0}},
      {"exit 255", {.exit_code = 255}},
      {"kill -9 $$", {.signal = SIGKILL}},
      {"kill -11 $$", {.signal = SIGSEGV}},
      {"echo out; echo err >&2; exit 3", {.exit_code = 3}},
  };
  for (const auto& [command, end] : rows) {
    OutputRing output(1000);
    auto child =
        ChildProcess::start(testing::shell("ulimit -c 0; " + command), kOwnProgram, output);
    ASSERT_TRUE(child.ok()) << child.error().message;
    EXPECT_GT((*child)->pid(), 0);
    EXPECT_NE((*child)->pid(), (*child)->guard_pid());
    EXPECT_EQ(testing::wait_for_end(**child), end) << command;
    EXPECT_EQ((*child)->control_fd(), -1);
    EXPECT_EQ((*child)->output_fd(), -1);
    EXPECT_EQ(output.text(), command.starts_with("echo") ? "out\nerr\n" : "");
    (*child)->stop();  // of no consequence now
    (*child)->kill();
    (*child)->pump();
    EXPECT_EQ((*child)->ended(), end);
  }
  EXPECT_FALSE(has_children());
}

TEST(ChildProcess, EndText) {
  EXPECT_EQ(child_end_text({.exit_code = 3}), "it ended with exit status 3");
  EXPECT_EQ(child_end_text({.signal = SIGKILL}), "signal 9 (KILL) ended it");
  EXPECT_EQ(child_end_text({.signal = 200}), "signal 200 ended it");
  EXPECT_EQ(child_end_text({.signal = SIGKILL, .is_guard_lost = true}),
            "its guard process was ended, and it with it");
}

TEST(ChildProcess, CannotStart) {
  const testing::TempDir folder;
  testing::write_file(folder / "plain", "#!/bin/sh\n");
  testing::write_file(folder / "words", "only words\n");
  testing::write_file(folder / "lost", "#!/nowhere/sh\n");
  ::chmod((folder / "words").c_str(), 0755);
  ::chmod((folder / "lost").c_str(), 0755);
  const std::string path = folder.path().string();
  struct Row {
    std::string program;
    std::string cwd;
    std::string part;
  };
  const Row rows[] = {
      {"no-such-program", "", "'no-such-program': it is in no folder of PATH"},
      {path + "/none", "", "none': No such file or directory"},
      {path + "/plain", "", "plain': Permission denied; it must be executable"},
      {"plain", "", "'plain': Permission denied"},
      {path + "/words", "", "words': Exec format error; a script needs a first line"},
      {path + "/lost", "", "lost': No such file or directory"},
      {path, "", "Permission denied"},
      {path + "/plain/x", "", "No such file or directory"},
      {"./sh", path, "'./sh': No such file or directory"},
      {"sh", path + "/none", "its working folder '" + path + "/none': No such file or directory"},
      {"sh", path + "/plain", "Not a directory"},
      {"", "", "command is empty"},
  };
  for (const Row& row : rows) {
    OutputRing output(1000);
    ChildSpec spec{.argv = {row.program}, .environment = {{"PATH", "/usr/bin:" + path}}};
    spec.cwd = row.cwd;
    const auto child = ChildProcess::start(spec, kOwnProgram, output);
    ASSERT_FALSE(child.ok()) << row.program;
    const bool is_io = !row.program.empty();
    EXPECT_EQ(child.error().code, is_io ? ErrorCode::kIo : ErrorCode::kInvalidRequest);
    EXPECT_NE(child.error().message.find(row.part), std::string::npos) << child.error().message;
    EXPECT_EQ(output.text(), "");
  }
  EXPECT_FALSE(has_children());
}

TEST(ChildProcess, NotAGuard) {
  for (const char* program : {"/nowhere/layard", "/bin/true"}) {
    OutputRing output(1000);
    const auto child = ChildProcess::start(testing::shell("true"), program, output);
    ASSERT_FALSE(child.ok());
    EXPECT_EQ(child.error().code, ErrorCode::kIo);
    EXPECT_NE(child.error().message.find("its guard process"), std::string::npos);
  }
  EXPECT_FALSE(has_children());
}

TEST(ChildProcess, MuchOutput) {
  OutputRing output(kOutputBytes);
  auto child = ChildProcess::start(
      testing::shell("head -c 100000000 /dev/zero; echo; echo the end"), kOwnProgram, output);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(testing::wait_for_end(**child), ChildEnd{.exit_code = 0});
  EXPECT_EQ(output.bytes_total(), 100000000U + 9U);
  EXPECT_LE(output.text().size(), kOutputBytes);
  EXPECT_EQ(output.last_lines(1), std::vector<std::string>{"the end"});
}

TEST(ChildProcess, DestructionKills) {
  std::vector<pid_t> pids;
  OutputRing output(1000);
  {
    ChildSpec spec = testing::shell("trap '' TERM; sleep 1000 & echo $! $$; wait; sleep 1000");
    spec.stop_ms = kStopMsMax;
    auto child = ChildProcess::start(spec, kOwnProgram, output);
    ASSERT_TRUE(child.ok()) << child.error().message;
    testing::wait_until([&] {
      (*child)->pump();
      return output.text().ends_with("\n");
    });
    pids = testing::pids_in(output.text());
    ASSERT_EQ(pids.size(), 2U);
    EXPECT_EQ(pids[1], (*child)->pid());
    pids.push_back((*child)->guard_pid());
  }
  for (const pid_t pid : pids) EXPECT_EQ(testing::process_state(pid), '\0');
  EXPECT_FALSE(has_children());
}

// The kernel tells a guard of its parent's end when the thread that started it ends.
TEST(ChildProcess, OutlivesTheThreadThatStartedIt) {
  OutputRing output(1000);
  std::unique_ptr<ChildProcess> child;
  std::thread([&] {
    auto started = ChildProcess::start(testing::shell("exec sleep 1000"), kOwnProgram, output);
    if (started.ok()) child = *std::move(started);
  }).join();
  ASSERT_NE(child, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  child->pump();
  EXPECT_FALSE(child->ended().has_value());
  child->stop();
  EXPECT_EQ(testing::wait_for_end(*child), ChildEnd{.signal = SIGTERM});
}

// A gateway that ignores SIGCHLD finds no ended child, and must not wait for one.
TEST(ChildProcess, IgnoredChildSignal) {
  const auto old = std::signal(SIGCHLD, SIG_IGN);
  OutputRing output(1000);
  auto child = ChildProcess::start(testing::shell("exit 4"), kOwnProgram, output);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(testing::wait_for_end(**child), ChildEnd{.exit_code = 4});
  std::signal(SIGCHLD, old);
}

}  // namespace
}  // namespace layard::gateway
