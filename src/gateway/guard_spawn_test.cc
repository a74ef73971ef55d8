#include "gateway/guard_spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "gateway/child_process.h"
#include "support/child_world.h"
#include "support/temp_dir.h"

namespace layard::gateway {
namespace {

// What the test program in its role "show" prints of what it was started with.
std::string shown(ChildSpec spec) {
  spec.argv.insert(spec.argv.begin(), {testing::own_program(), testing::kShowRole});
  OutputRing output(1 << 20);
  auto child = ChildProcess::start(spec, kOwnProgram, output);
  if (!child.ok()) return child.error().message;
  const auto end = testing::wait_for_end(**child);
  EXPECT_EQ(end, ChildEnd{.exit_code = 0}) << output.text();
  return output.text();
}

std::vector<std::string> lines_with(const std::string& text, const std::string& first_word) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(first_word + " ")) out.push_back(line.substr(first_word.size() + 1));
  }
  return out;
}

TEST(GuardSpawn, ArgumentsArriveUnchanged) {
  const std::vector<std::string> arguments = {"",
                                              " ",
                                              "a b",
                                              "'single' \"double\"",
                                              "$(touch x) `touch x` $HOME",
                                              "*",
                                              "~",
                                              "a\nb\n",
                                              "\\ \\n",
                                              "; rm -f x & | > y < z",
                                              "--",
                                              "-c",
                                              "--control-fd",
                                              "%s{port}#!",
                                              "\x01\x7f\xff\xc3\xa4",
                                              "{a,b}c",
                                              "\t\r\v",
                                              "__guard"};
  std::string expected = "argument 6:" + std::string(testing::kShowRole) + "\n";
  for (const std::string& argument : arguments) {
    expected += "argument " + std::to_string(argument.size()) + ":" + argument + "\n";
  }
  const std::string text = shown({.argv = arguments});
  EXPECT_EQ(text.substr(0, expected.size()), expected);
}

TEST(GuardSpawn, OnlyTheGivenVariables) {
  using Lines = std::vector<std::string>;
  const auto variables = [](const ChildVariables& given) {
    return lines_with(shown({.argv = {}, .environment = given}), "variable");
  };
  EXPECT_EQ(variables({}), Lines{});
  EXPECT_EQ(variables({{"A", "b c=d"}, {"EMPTY", ""}, {"PATH", "/nowhere"}}),
            (Lines{"A=b c=d", "EMPTY=", "PATH=/nowhere"}));
}

// Also those that are not marked close-on-exec, as libraries open them.
TEST(GuardSpawn, NoDescriptorIsInherited) {
  const OwnedFd low(::open("/dev/null", O_RDWR));
  const OwnedFd high(::fcntl(low.get(), F_DUPFD, 300));
  ASSERT_TRUE(high.is_open());
  EXPECT_EQ(lines_with(shown({.argv = {}}), "open"), (std::vector<std::string>{"0", "1", "2"}));
}

TEST(GuardSpawn, FolderAndGroup) {
  const testing::TempDir folder;
  const std::string path = std::filesystem::canonical(folder.path()).string();
  const std::string text = shown({.argv = {}, .cwd = path});
  EXPECT_EQ(lines_with(text, "folder"), std::vector<std::string>{path});
  EXPECT_EQ(lines_with(text, "group"), std::vector<std::string>{"1"}) << "a group of its own";
}

TEST(GuardSpawn, InputIsEmptyAndSignalsAreAsNew) {
  OutputRing output(1000);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  auto child = ChildProcess::start(testing::shell("cat; grep -E 'Sig(Ign|Blk)' /proc/self/status"),
                                   kOwnProgram, output);
  std::signal(SIGPIPE, old);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(testing::wait_for_end(**child), ChildEnd{.exit_code = 0});
  std::istringstream in(output.text());
  std::string blocked_name;
  std::string ignored_name;
  std::uint64_t blocked = 1;
  std::uint64_t ignored = 1;
  in >> blocked_name >> std::hex >> blocked >> ignored_name >> ignored;
  EXPECT_EQ(blocked_name + ignored_name, "SigBlk:SigIgn:") << "and no input";
  EXPECT_EQ(blocked, 0U);
  // Signals 32 and 33 are the C library's own; nobody can change how they are taken.
  EXPECT_EQ(ignored & ~std::uint64_t{0x180000000}, 0U);
}

TEST(GuardSpawn, NoSuchGuard) {
  const auto guard = spawn_guard({.argv = {"sh"}}, "/nowhere/layard");
  ASSERT_FALSE(guard.ok());
  EXPECT_EQ(guard.error().code, ErrorCode::kIo);
  EXPECT_NE(guard.error().message.find("/nowhere/layard: No such file"), std::string::npos)
      << guard.error().message;
}

}  // namespace
}  // namespace layard::gateway
