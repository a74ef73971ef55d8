/// Numbers as tables for people print them. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>

namespace layard::base {

/// `0.823` with that many digits after the point, in the C locale's form. Of a number with more
/// than 47 characters the first 47.
std::string fixed(double value, int digits);

/// `82.3%` of a share of 0.823.
std::string percent(double share);

/// Blanks before `text` up to `width` bytes; `text` itself where it is as long.
std::string right_aligned(const std::string& text, std::size_t width);

}  // namespace layard::base
