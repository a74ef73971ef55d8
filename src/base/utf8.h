/// UTF-8 helpers: validation, decoding, counting. Lengths are bytes unless named code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace layard::base {

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_valid_utf8(std::string_view text) noexcept;

/// Number of code points of well-formed text.
std::size_t count_code_points(std::string_view text) noexcept;

/// One decoded code point and its length in bytes (length 0 at the end of the text).
struct Utf8Step {
  char32_t code_point = 0;
  std::size_t bytes = 0;
};

/// Decodes the code point at `offset`. An ill-formed byte is returned as U+FFFD of length 1, so
/// a loop over any bytes ends.
Utf8Step decode_utf8(std::string_view text, std::size_t offset) noexcept;

/// Appends the UTF-8 form of `code_point` (surrogates and values over U+10FFFF become U+FFFD).
void append_utf8(std::string& out, char32_t code_point);

}  // namespace layard::base
