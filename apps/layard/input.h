/// Values of options: inline text, `@file`, or `-` for standard input.
#pragma once

#include <iosfwd>
#include <string>

#include "layard/error.h"

namespace layard::cli {

/// Bytes a value may have, wherever it comes from.
inline constexpr std::size_t kInputBytesMax = std::size_t{256} << 20;

/// The text that `value` of `option` stands for. A byte-order mark at its start is dropped.
/// Errors: kIo (unreadable file), kInvalidRequest (too large).
Result<std::string> read_value(const std::string& option, const std::string& value);

/// A whole file. Errors: kIo, kInvalidRequest (too large).
Result<std::string> read_file(const std::string& path);

/// Checks that at most one of two options reads standard input.
Status check_one_stdin(const std::string& first, const std::string& second);

}  // namespace layard::cli
