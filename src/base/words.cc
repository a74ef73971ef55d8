#include "layard/words.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace layard {
namespace {

constexpr std::size_t kWordBytesMax = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Least number of insertions, deletions, replacements and swaps of neighbours, none of them inside
// another (optimal string alignment). Bounds: both have at most kWordBytesMax bytes.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + wrong});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "_-./=:,@%+";
  const bool plain = std::ranges::all_of(word, [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || kPlain.find(c) != std::string_view::npos;
  });
  if (plain && !word.empty()) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::optional<std::string> closest_name(std::string_view word, std::span<const std::string> names) {
  return closest_name(word, names, word.size() <= 4 ? 1 : word.size() <= 8 ? 2 : 3);
}

std::optional<std::string> closest_name(std::string_view word, std::span<const std::string> names,
                                        std::size_t slips_max) {
  if (word.size() < 2 || word.size() > kWordBytesMax) return std::nullopt;
  std::size_t fewest = slips_max;
  const std::string typed = lower(word);
  std::optional<std::string> closest;
  for (const std::string& name : names) {
    if (name.size() > word.size() + fewest || word.size() > name.size() + fewest) continue;
    const std::size_t slips = slips_between(typed, lower(name));
    if (slips > fewest || (closest.has_value() && slips == fewest)) continue;
    fewest = slips;
    closest = name;
  }
  return closest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const auto name = closest_name(word, names);
  return name.has_value() ? " (did you mean '" + *name + "'?)" : "";
}

}  // namespace layard
