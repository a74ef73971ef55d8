/// Words in messages, for the program and the library alike: a word as a shell takes it, and the
/// name that a slip was most likely meant to be.
///
/// Thread-safety: the functions are pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layard/export.h"

namespace layard {

/// `word` as one word of a POSIX shell: as it is where it needs no quotes.
LAYARD_EXPORT std::string shell_quoted(std::string_view word);

/// Which of `names` was most likely meant by `word`, itself none of them: the first of those that
/// are the fewest slips away, at most one slip in words of up to four letters, two up to eight,
/// three beyond. A slip is a letter too many, too few or wrong, or two that changed places; case
/// does not count. Nothing for words of fewer than two letters, or of more than 64 bytes.
LAYARD_EXPORT std::optional<std::string> closest_name(std::string_view word,
                                                      std::span<const std::string> names);

/// The same, at most `slips_max` slips away whatever the word's length.
LAYARD_EXPORT std::optional<std::string> closest_name(std::string_view word,
                                                      std::span<const std::string> names,
                                                      std::size_t slips_max);

/// " (did you mean 'NAME'?)" for the closest of `names`, or empty.
LAYARD_EXPORT std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace layard
