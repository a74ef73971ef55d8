/// What a child process is started with.
/// Thread-safety: plain values; the functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "layard/error.h"

namespace layard::gateway {

inline constexpr std::size_t kChildArgumentsMax = 1024;
inline constexpr std::size_t kChildVariablesMax = 256;
/// Of arguments, variables and folder together.
inline constexpr std::size_t kChildBytesMax = std::size_t{256} << 10;
/// Of one argument or variable: Linux takes no more.
inline constexpr std::size_t kChildTextBytesMax = std::size_t{128} << 10;
inline constexpr std::int64_t kStopMsMax = 600000;

using ChildVariables = std::vector<std::pair<std::string, std::string>>;

struct ChildSpec {
  /// The program, then its arguments, as they are: no shell reads them. A program without `/` is
  /// looked for in the folders of the child's PATH.
  std::vector<std::string> argv;
  /// All variables the child has.
  ChildVariables environment = {};
  /// Its working folder, from which also a program's relative path counts; empty: this process's.
  std::string cwd = {};
  /// From the request to stop to the end by force, milliseconds, 0 to kStopMsMax.
  std::int64_t stop_ms = 10000;
};

/// Errors: kInvalidRequest, naming the member: no program, a zero byte, too many or too long texts,
/// a variable's name that is none, stop_ms out of its bounds. Values are not in the message.
Status check_child_spec(const ChildSpec& spec);

/// `argv` with each `{port}` replaced; `port` 0: there is none. Errors: kInvalidRequest, when an
/// argument asks for a port and there is none.
Result<std::vector<std::string>> with_port(std::vector<std::string> argv, std::uint16_t port);

/// The variables a backend gets: PATH, HOME, TMPDIR, LANG and those in `names`, each once and as
/// far as `env` has them. Errors: kInvalidRequest, for a name that is none, and for a key of this
/// program's own (LAYARD_...KEY...): what a backend gets, its users may read.
Result<ChildVariables> child_environment(const base::Env& env,
                                         const std::vector<std::string>& names);

}  // namespace layard::gateway
