#include "base/python_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace layard::base {

std::string python_float_repr(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::array<char, 64> buffer{};
  const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                        std::chars_format::scientific);
  std::string text(buffer.data(), scientific.ptr);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;  // to_chars writes two exponent digits too
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  text.assign(buffer.data(), fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

double python_round4(double value) {
  // Beyond 2^52 a double has no fraction, and the fixed text would be long for nothing.
  if (!std::isfinite(value) || std::fabs(value) >= 4503599627370496.0) return value;
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, 4);
  double rounded = 0;
  std::from_chars(buffer.data(), end.ptr, rounded);
  return rounded;
}

double parse_json_double(std::string_view text) {
  double value = 0;
  const auto [ptr, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say which way: a negative exponent means an underflow to zero.
    const std::size_t e = text.find_first_of("eE");
    const bool tiny = e != std::string_view::npos && text.find('-', e) != std::string_view::npos;
    const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
  }
  return value;
}

}  // namespace layard::base
