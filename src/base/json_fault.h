/// Where a text stops being JSON and what was most likely meant: for the message of a parse that
/// was refused. Whether a text is JSON is decided by the parser, not here.
///
/// Thread-safety: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace layard::base {

struct JsonFault {
  /// As an editor counts: lines end with \n, columns are characters, both start at 1.
  std::size_t line = 1;
  std::size_t column = 1;
  /// JSON pointer of the value in question, names as they are written; empty at the top level.
  std::string pointer;
  /// What is wrong and what to write instead, in one sentence of bounded length.
  std::string what;
};

/// The first place where `text` (any bytes, without a byte-order mark) breaks RFC 8259, or nothing
/// where it does not. Gives up, with nothing, at more than `depth_max` open brackets: that is
/// another error. Bounds: time is linear in the text, memory in `depth_max`.
std::optional<JsonFault> find_json_fault(std::string_view text, std::size_t depth_max);

}  // namespace layard::base
