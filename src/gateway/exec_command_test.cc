#include "gateway/exec_command.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

// exec_command() itself forks, which only a process of one thread may do: child_process_test.cc
// has its programs that are not found, not executable and no programs, through a guard.
TEST(ExecCommand, Places) {
  using Places = std::vector<std::string>;
  struct Row {
    std::string name;
    std::string path;
    Places places;
  };
  const Row rows[] = {
      {"sh", "/usr/bin:/bin", {"/usr/bin/sh", "/bin/sh"}},
      {"sh", "/bin", {"/bin/sh"}},
      {"sh", ":/bin::/opt:", {"/bin/sh", "/opt/sh"}},  // never the working folder unasked
      {"sh", ".:/bin", {"./sh", "/bin/sh"}},
      {"sh", "", {}},
      {"/bin/sh", "/usr/bin", {"/bin/sh"}},
      {"./sh", "/usr/bin", {"./sh"}},
      {"a/sh", "", {"a/sh"}},
      {"a b", "/c d", {"/c d/a b"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(program_places(row.name, row.path), row.places) << row.name << " in " << row.path;
  }
}

}  // namespace
}  // namespace layard::gateway
