/// Tables of what the language detector knows about single characters.
/// Source: Unicode 16.0, written by make_characters.py; the classes are those of CPython's str
/// methods (isalpha, isdecimal, isnumeric) and of unicodedata.combining.
#pragma once

#include <cstdint>
#include <span>

#include "language/characters.h"

namespace layard::language {

struct ClassRange {
  char32_t first;
  char32_t last;
  CharacterClass kind;
};

/// Every step-th code point of [first, last]; `delta` leads to its lower-case form.
struct SteppedRange {
  char32_t first;
  char32_t last;
  std::uint8_t step;
  std::int32_t delta;
};

/// Ascending and disjoint, as all three.
std::span<const ClassRange> class_ranges();
std::span<const SteppedRange> capital_ranges();
std::span<const SteppedRange> lower_ranges();

}  // namespace layard::language
