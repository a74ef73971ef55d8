#include "tokenizer/unicode/char_classes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "base/checks.h"
#include "base/utf8.h"

namespace layard::tokenizer {
namespace {

constexpr std::uint16_t kClassSets[] = {
#include "tokenizer/unicode/class_sets.inc"
};

struct ClassRun {
  std::uint32_t code_points;
  std::uint8_t set;
};

constexpr ClassRun kClassRuns[] = {
#include "tokenizer/unicode/class_runs.inc"
};

struct LowerRun {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t difference;
};

constexpr LowerRun kLowerRuns[] = {
#include "tokenizer/unicode/lower_runs.inc"
};

// The only lower case of two code points: i and a dot above.
constexpr char32_t kDottedCapitalI = 0x130;

}  // namespace

const CharClasses& CharClasses::get() {
  static const CharClasses kClasses;
  return kClasses;
}

CharClasses::CharClasses() {
  std::vector<std::uint16_t> flat(0x110000);
  std::size_t next = 0;
  for (const ClassRun& run : kClassRuns) {
    std::fill_n(flat.begin() + static_cast<std::ptrdiff_t>(next), run.code_points,
                kClassSets[run.set]);
    next += run.code_points;
  }
  LAYARD_CHECK(next == flat.size());
  std::map<std::vector<std::uint16_t>, std::uint32_t> seen;
  for (std::size_t page = 0; page < kPages; ++page) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(page << kPageBits);
    const std::vector<std::uint16_t> content(begin, begin + kPageMask + 1);
    const auto [found, added] = seen.emplace(content, static_cast<std::uint32_t>(pages_.size()));
    if (added) pages_.insert(pages_.end(), content.begin(), content.end());
    page_of_[page] = found->second;
  }
}

void CharClasses::append_lower(std::string& out, char32_t code_point) const {
  if (((*this)(code_point)&kLowers) == 0) {
    base::append_utf8(out, code_point);
    return;
  }
  if (code_point == kDottedCapitalI) {
    out += "i\xCC\x87";
    return;
  }
  const auto* after =
      std::upper_bound(std::begin(kLowerRuns), std::end(kLowerRuns), code_point,
                       [](char32_t value, const LowerRun& run) { return value < run.first; });
  const auto difference = static_cast<char32_t>(std::prev(after)->difference);
  base::append_utf8(out, code_point + difference);
}

std::size_t CharClasses::leading_space_end(std::string_view text) const noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const Utf8Char c = next_char(text, end);
    if (((*this)(c.code_point) & kSpace) == 0) break;
    end += c.bytes;
  }
  return end;
}

std::size_t CharClasses::trailing_space_begin(std::string_view text) const noexcept {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t before = previous_char(text, begin);
    if (((*this)(next_char(text, before).code_point) & kSpace) == 0) break;
    begin = before;
  }
  return begin;
}

std::size_t ascii_prefix(std::string_view text) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace layard::tokenizer
