#include "language/latin_profile.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/utf8.h"
#include "language/characters.h"
#include "language/words.h"

namespace layard::language {
namespace {

// What identifiers such as `user@acme.com` or `v1.2.3` are made of, besides their joints.
bool is_identifier_character(char32_t c) {
  if (c == U'_' || c == U'-') return true;
  return is_word_character(c) || character_class(c) == CharacterClass::kDigit;
}

bool is_joint(char32_t c) { return c == U'.' || c == U'@'; }

std::size_t run_end(std::u32string_view text, std::size_t at) {
  while (at < text.size() && is_identifier_character(text[at])) ++at;
  return at;
}

// Counts the listed words of one text.
class WordCounts {
 public:
  void add(std::u32string_view word) {
    ++words_;
    std::string bytes;
    for (const char32_t c : word) {
      if (bytes.size() > kWordBytesMax) return;  // no list has it
      base::append_utf8(bytes, lower(c));
    }
    const unsigned languages = languages_of(bytes);
    const bool shared = (languages & (languages - 1)) != 0;
    for (std::size_t i = 0; i < kLanguages; ++i) {
      if ((languages >> i & 1U) == 0) continue;
      ++scores_[i];
      if (!shared) own_[i] = true;
    }
  }

  // Words of an identifier-free run of letters, digits, `_` and `-`.
  void add_run(std::u32string_view run) {
    for (std::size_t at = 0; at < run.size();) {
      std::size_t end = at;
      while (end < run.size() && is_word_character(run[end])) ++end;
      if (end > at) add(run.substr(at, end - at));
      at = end + 1;
    }
  }

  std::optional<std::size_t> language(bool looks_foreign) const {
    if (words_ < kWordsMin) return std::nullopt;
    const std::size_t english = scores_[kEnglish];
    std::optional<std::size_t> best;  // without a word of its own a language is no candidate
    for (std::size_t i = 0; i < kLanguages; ++i) {
      if (i == kEnglish || !own_[i]) continue;
      if (!best.has_value() || scores_[i] > scores_[*best]) best = i;
    }
    const std::size_t score = best.has_value() ? scores_[*best] : 0;
    if (score >= std::max<std::size_t>(2, english + 2)) return best;
    if (looks_foreign && score >= std::max<std::size_t>(2, english)) return best;
    if (english > 0 && !looks_foreign) return kEnglish;
    return std::nullopt;
  }

 private:
  std::size_t words_ = 0;
  std::array<std::size_t, kLanguages> scores_{};
  std::array<bool, kLanguages> own_{};
};

WordCounts count_words(std::u32string_view text) {
  WordCounts counts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = run_end(text, at);
    std::size_t identifier_end = end;
    while (identifier_end + 1 < text.size() && is_joint(text[identifier_end]) &&
           is_identifier_character(text[identifier_end + 1])) {
      identifier_end = run_end(text, identifier_end + 1);
    }
    if (identifier_end > end) {
      at = identifier_end;
      continue;
    }
    counts.add_run(text.substr(at, end - at));
    at = end + 1;
  }
  return counts;
}

}  // namespace

bool LatinProfile::is_english() const {
  return language.has_value() ? *language == kEnglish : !looks_foreign();
}

LatinProfile latin_profile(std::u32string_view text) {
  LatinProfile profile;
  if (text.empty()) return profile;
  const auto foreign =
      std::ranges::count_if(text, [](char32_t c) { return is_foreign_letter(lower(c)); });
  // Python's lower() makes two characters of U+0130; in the words it is one.
  const auto length =
      static_cast<double>(text.size()) + static_cast<double>(std::ranges::count(text, U'\u0130'));
  profile.foreign_letter_rate = static_cast<double>(foreign) / length;
  profile.language = count_words(text).language(profile.looks_foreign());
  return profile;
}

}  // namespace layard::language
