#include "gateway/own_children.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "support/child_world.h"

namespace layard::gateway {
namespace {

TEST(OwnChildren, Stat) {
  const std::pair<std::string, std::optional<pid_t>> rows[] = {
      {"12 (sh) S 7 12 12 0 -1 4194560", 7},
      {"12 (a (strange) name) R 4194303 1 1", 4194303},
      {"12 () 1 2) Z 9 1", 9},
      {"12 (sh) S 0 12", std::nullopt},  // of the kernel
      {"12 (sh) S x 12", std::nullopt},
      {"12 (sh) S 7", std::nullopt},
      {"12 (sh)", std::nullopt},
      {"12 sh S 7 1", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [stat, pid] : rows) EXPECT_EQ(parent_in_stat(stat), pid) << stat;
}

TEST(OwnChildren, Found) {
  std::string words[] = {"sleep", "1000"};
  char* argv[] = {words[0].data(), words[1].data(), nullptr};
  char* environment[] = {nullptr};
  pid_t child = -1;
  ASSERT_EQ(::posix_spawnp(&child, "sleep", nullptr, nullptr, argv, environment), 0);
  const auto has_child = [child] {
    const auto found = own_children();
    return std::ranges::find(found, child) != found.end();
  };
  EXPECT_TRUE(has_child());
  ::kill(child, SIGKILL);
  EXPECT_TRUE(testing::wait_until([child] { return testing::process_state(child) == 'Z'; }));
  EXPECT_TRUE(has_child()) << "an ended child is one until it is waited for";
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(has_child());
  const auto all = own_children();
  EXPECT_EQ(std::ranges::find(all, ::getpid()), all.end());
}

}  // namespace
}  // namespace layard::gateway
