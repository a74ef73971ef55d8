/// Numbers as Python prints and rounds them; answers and prompts must match to the last digit.
#pragma once

#include <string>
#include <string_view>

namespace layard::base {

/// repr(float): shortest text that reads back equal; exponent form for |x| >= 1e16 or < 1e-4.
/// Source: CPython 3.11 float_repr_style "short".
std::string python_float_repr(double value);

/// round(x, 4): correctly rounded decimal of the exact binary value, ties to even.
/// Source: CPython 3.11 float.__round__.
double python_round4(double value);

/// float(text) for JSON number text; infinite when out of range.
double parse_json_double(std::string_view text);

}  // namespace layard::base
