#include "language/characters.h"

#include <algorithm>
#include <array>
#include <span>

#include "language/characters_tables.h"

namespace layard::language {
namespace {

// The range that `code_point` lies in, or null.
template <class Range>
const Range* find_range(std::span<const Range> ranges, char32_t code_point) {
  const auto after = std::ranges::upper_bound(ranges, code_point, {}, &Range::first);
  if (after == ranges.begin()) return nullptr;
  const Range& range = *(after - 1);
  return code_point <= range.last ? &range : nullptr;
}

const SteppedRange* find_stepped(std::span<const SteppedRange> ranges, char32_t code_point) {
  const SteppedRange* range = find_range(ranges, code_point);
  if (range == nullptr || (code_point - range->first) % range->step != 0) return nullptr;
  return range;
}

CharacterClass class_from_ranges(char32_t code_point) {
  const ClassRange* range = find_range(class_ranges(), code_point);
  return range != nullptr ? range->kind : CharacterClass::kOther;
}

// Most texts lie below here.
constexpr char32_t kDirectEnd = 0x250;

}  // namespace

CharacterClass character_class(char32_t code_point) {
  static const auto direct = [] {
    std::array<CharacterClass, kDirectEnd> classes{};
    for (char32_t c = 0; c < kDirectEnd; ++c) classes[c] = class_from_ranges(c);
    return classes;
  }();
  return code_point < kDirectEnd ? direct[code_point] : class_from_ranges(code_point);
}

bool is_capital(char32_t code_point) {
  return find_stepped(capital_ranges(), code_point) != nullptr;
}

char32_t lower(char32_t code_point) {
  if (code_point == 0x130) return U'i';
  const SteppedRange* range = find_stepped(lower_ranges(), code_point);
  if (range == nullptr) return code_point;
  return static_cast<char32_t>(static_cast<std::int64_t>(code_point) + range->delta);
}

}  // namespace layard::language
