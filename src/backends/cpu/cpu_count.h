/// How many threads this process may keep busy: affinity and container quota, not just cores.
#pragma once

#include <filesystem>

namespace layard::backends::cpu {

/// min(processors in `affinity`, the tightest cgroup CPU quota rounded to the nearest whole
/// processor), at least 1.
/// `root` is where proc/ and sys/fs/cgroup/ are looked up ("/" but for tests). Control groups v2
/// (cpu.max) and v1 (cpu.cfs_quota_us over cpu.cfs_period_us) are read for this process's group and
/// every group above it; files that are absent or make no sense set no limit.
int cpu_count(const std::filesystem::path& root, int affinity);

/// The same for this process on this machine.
int cpu_count();

}  // namespace layard::backends::cpu
