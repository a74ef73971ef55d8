/// The part of a state that its language is read from.
///
/// Source: laya 0.3.20 lang.py `state_text`, `_iter_text` (what is collected, depth and length).
/// Departs: text that is not UTF-8 counts as U+FFFD, a byte each. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "layard/error.h"

namespace layard::language {

/// Code points that are looked at; what follows has no influence.
inline constexpr std::size_t kCodePointsMax = 4000;

/// Containers around a text, at most; deeper texts are passed over.
inline constexpr std::size_t kDepthMax = 6;

/// The beginning of a text.
std::u32string plain_text(std::string_view text);

/// The texts in a JSON document, in order, one blank between two of them: elements of arrays and
/// values of objects, never keys, numbers or literals. A text that does not fit is cut and is the
/// last. Errors: kInvalidRequest when it is not JSON, or over the parser's limits.
Result<std::u32string> json_text(std::string_view json);

}  // namespace layard::language
