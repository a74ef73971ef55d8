/// The gateway's decision log, as far as a policy is computed from it.
///
/// JSON Lines, one object for each decision. Unknown members are passed over; a line that is no
/// object, or whose members have other kinds, is counted as broken and not used.
/// Thread-safety: plain values; the functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// Bytes of a log, of one line, and decisions that are read.
inline constexpr std::size_t kDecisionLogBytesMax = std::size_t{256} << 20;
inline constexpr std::size_t kDecisionLineBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kDecisionsMax = 1'000'000;
/// Numbers of broken lines that are kept.
inline constexpr std::size_t kBrokenLinesShown = 10;

struct LoggedDecision {
  std::string class_name;
  bool asked = false;  ///< the model decided: `source` is `model`
  std::optional<double> decision_ms;
  std::optional<double> prompt_tokens;
  std::optional<double> output_tokens;
  std::optional<double> turns;               ///< of the conversation
  std::optional<double> cached_tokens = {};  ///< of the prompt
};

struct LoggedDecisions {
  std::vector<LoggedDecision> decisions;
  std::size_t lines = 0;                  ///< that are not blank
  std::size_t unused = 0;                 ///< cancelled, failed, or without a class
  std::size_t broken = 0;                 ///< lines
  std::vector<std::size_t> broken_lines;  ///< the first ones, from 1
};

/// Reads members `class`, `source`, `decision_ms`, `prompt_tokens`, `completion_tokens`,
/// `cached_tokens`, `turns`, `status` and `cancelled`. Time and memory are linear in the text, up
/// to kDecisionsMax; later lines are left out. Errors: kInvalidRequest: more than
/// kDecisionLogBytesMax, or no line of it can be read, naming `source`.
Result<LoggedDecisions> read_decision_log(std::string_view text, const std::string& source);

/// `3 of 200 lines are broken: 4, 9, 17`; empty where none is.
std::string broken_lines_text(const LoggedDecisions& log);

}  // namespace layard::gateway
