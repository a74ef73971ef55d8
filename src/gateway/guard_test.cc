#include "gateway/guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "gateway/child_process.h"
#include "gateway/child_spec.h"
#include "support/child_world.h"

extern char** environ;

namespace layard::gateway {
namespace {

using Words = std::vector<std::string>;

TEST(Guard, Arguments) {
  const GuardOptions rows[] = {
      {.control_fd = 3, .stop_ms = 0, .argv = {"a"}},
      {.control_fd = 10, .stop_ms = kStopMsMax, .cwd = "/a b", .argv = {"--", "--cwd", "", "\n"}},
  };
  for (const GuardOptions& row : rows) {
    const Words words = write_guard_arguments(row);
    ASSERT_EQ(words[0], kGuardCommand);
    const auto read = read_guard_arguments(std::span(words).subspan(1));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->control_fd, row.control_fd);
    EXPECT_EQ(read->stop_ms, row.stop_ms);
    EXPECT_EQ(read->cwd, row.cwd);
    EXPECT_EQ(read->argv, row.argv);
  }
}

TEST(Guard, ArgumentsRefused) {
  const std::pair<Words, std::string> rows[] = {
      {{}, "--control-fd is missing"},
      {{"--", "a"}, "--control-fd is missing"},
      {{"--control-fd"}, "'--control-fd' needs a value"},
      {{"--control-fd", "3"}, "no command"},
      {{"--control-fd", "3", "--"}, "no command"},
      {{"--control-fd", "-3", "--", "a"}, "--control-fd is '-3'"},
      {{"--control-fd", "3x", "--", "a"}, "--control-fd is '3x'"},
      {{"--control-fd", "3", "--stop-ms", "600001", "--", "a"}, "--stop-ms is '600001'"},
      {{"--help", "1", "--", "a"}, "'--help' is no option"},
  };
  for (const auto& [words, part] : rows) {
    const auto read = read_guard_arguments(words);
    ASSERT_FALSE(read.ok()) << part;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  }
}

TEST(Guard, NeedsItsSocket) {
  // Nothing is changed before the socket is looked at, so this may be tried in this process.
  const Status done = run_guard({.control_fd = 987654, .argv = {"/bin/true"}});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
  EXPECT_NE(done.error().message.find("control socket 987654"), std::string::npos);
}

// Each argument and variable with its size, so that no character of them can be taken for an end.
int show(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("argument %zu:%s\n", std::strlen(argv[i]), argv[i]);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::printf("variable %s\n", *variable);
  }
  Words open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // of the descriptor of this loop
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && target.string().find("/fd") == std::string::npos) {
      open.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(open);
  for (const std::string& fd : open) std::printf("open %s\n", fd.c_str());
  std::printf("folder %s\n", std::filesystem::current_path().c_str());
  std::printf("group %d\n", ::getpgrp() == ::getpid() ? 1 : 0);
  return 0;
}

// A gateway with one child, which starts another; their numbers go to the standard output.
int parent(const std::string& command) {
  OutputRing output(1000);
  ChildSpec spec = testing::shell(command);
  spec.stop_ms = 300;
  auto child = ChildProcess::start(spec, kOwnProgram, output);
  if (!child.ok()) return 1;
  const bool has_said = testing::wait_until([&] {
    (*child)->pump();
    return output.text().ends_with("\n");
  });
  if (!has_said) return 1;
  std::printf("%d %s", (*child)->guard_pid(), output.text().c_str());
  std::fflush(stdout);
  while (true) ::pause();
}

}  // namespace

// What the tests start is this program in other roles.
int play_role(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == kGuardCommand) {
    const Words words(argv + 2, argv + argc);
    const auto options = read_guard_arguments(words);
    return options.ok() && run_guard(*options).ok() ? 0 : 2;
  }
  if (role == testing::kShowRole) return show(argc, argv);
  if (role == testing::kParentRole && argc == 3) return parent(argv[2]);
  return -1;
}

}  // namespace layard::gateway

int main(int argc, char** argv) {
  const int status = layard::gateway::play_role(argc, argv);
  if (status >= 0) return status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
