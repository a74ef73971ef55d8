/// Tables of what str methods know about Unicode.
/// Source: CPython 3.11 (Unicode 14.0), written by make_python_unicode.py.
#pragma once

#include <cstdint>
#include <span>

namespace layard::decision {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

/// Every step-th code point of [first, last] becomes itself plus delta.
struct LowerRange {
  char32_t first;
  char32_t last;
  std::uint8_t step;
  std::int32_t delta;
};

/// Code points that repr() escapes, ascending.
std::span<const CodePointRange> hidden_ranges();

/// One-to-one mappings of str.lower(), ascending.
std::span<const LowerRange> lower_ranges();

}  // namespace layard::decision
