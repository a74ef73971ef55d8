#include "backends/cpu/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.h"

namespace layard::backends::cpu {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

void check(const Files& files, int affinity, int expected) {
  const testing::TempDir root;
  for (const auto& [name, text] : files) testing::write_file(root / name, text);
  EXPECT_EQ(cpu_count(root.path(), affinity), expected)
      << (files.empty() ? "" : files.back().second);
}

TEST(CpuCount, AffinityWithoutGroups) {
  check({}, 1, 1);
  check({}, 12, 12);
  check({}, 0, 1);
}

TEST(CpuCount, VersionTwo) {
  const std::string self = "proc/self/cgroup";
  const std::string top = "sys/fs/cgroup/";
  check({{self, "0::/\n"}, {top + "cpu.max", "200000 100000\n"}}, 8, 2);
  check({{self, "0::/\n"}, {top + "cpu.max", "max 100000\n"}}, 8, 8);
  check({{self, "0::/\n"}, {top + "cpu.max", "50000 100000\n"}}, 8, 1);
  check({{self, "0::/\n"}, {top + "cpu.max", "260000 100000\n"}}, 8, 3);
  check({{self, "0::/a/b\n"},
         {top + "a/b/cpu.max", "max 100000\n"},
         {top + "a/cpu.max", "300000 100000\n"}},
        8, 3);
  check({{self, "0::/a/b\n"},
         {top + "a/b/cpu.max", "100000 100000\n"},
         {top + "cpu.max", "400000 100000\n"}},
        8, 1);
  check({{self, "0::/../x\n"}, {top + "cpu.max", "max 100000\n"}}, 5, 5);
}

TEST(CpuCount, VersionOne) {
  const std::string self = "proc/self/cgroup";
  const std::string top = "sys/fs/cgroup/cpu,cpuacct/";
  check({{self, "3:cpuset:/\n2:cpu,cpuacct:/pod\n1:name=systemd:/\n"},
         {top + "pod/cpu.cfs_period_us", "100000\n"},
         {top + "pod/cpu.cfs_quota_us", "200000\n"}},
        16, 2);
  check({{self, "2:cpu,cpuacct:/\n"},
         {top + "cpu.cfs_period_us", "100000\n"},
         {top + "cpu.cfs_quota_us", "-1\n"}},
        16, 16);
  check({{self, "1:cpu:/pod\n0::/\n"},
         {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n"},
         {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"}},
        16, 4);
}

TEST(CpuCount, NonsenseSetsNoLimit) {
  const std::string self = "proc/self/cgroup";
  const std::string file = "sys/fs/cgroup/cpu.max";
  for (const char* text : {"", "x", "100000", "0 0", "-5 100000", "1e", "100000 x"}) {
    check({{self, "0::/\n"}, {file, text}}, 6, 6);
  }
  check({{self, "garbage\n::\n0:\n"}, {file, "100000 100000"}}, 6, 6);
}

TEST(CpuCount, ThisMachine) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_GE(cpu_count(), 1);
  EXPECT_LE(cpu_count(), CPU_COUNT(&set));
}

}  // namespace
}  // namespace layard::backends::cpu
