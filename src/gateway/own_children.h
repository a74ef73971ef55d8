/// The processes whose parent is this one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace layard::gateway {

/// Children that are told of at most; more are found when these are gone.
inline constexpr std::size_t kOwnChildrenMax = 4096;

/// The parent of a process, from the text of its /proc/PID/stat; nothing where the text is none.
/// Source: proc(5), fields 2 to 4; a program's name may hold blanks and parentheses.
std::optional<pid_t> parent_in_stat(std::string_view stat);

/// This process's children, also those that ended and are not waited for; empty where there is no
/// /proc. Only the caller can wait for them, so none of the numbers is another process's meanwhile.
std::vector<pid_t> own_children();

}  // namespace layard::gateway
