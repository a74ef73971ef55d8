#include "base/number_text.h"

#include <array>
#include <cstdio>

namespace layard::base {

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share) { return fixed(100 * share, 1) + "%"; }

std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

}  // namespace layard::base
