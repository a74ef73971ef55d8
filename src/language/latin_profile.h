/// Which language a text in Latin script is written in, by common words and by letters.
///
/// Source: laya 0.3.20 lang.py `latin_profile`, `guess_latin_language`. Thread-safety: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace layard::language {

/// Words a text must have before its language is named.
inline constexpr std::size_t kWordsMin = 4;
/// Share of foreign letters from which a text is not taken for English.
inline constexpr double kForeignLetterRate = 0.02;

struct LatinProfile {
  /// Place in word_lists(); nothing when it cannot be told.
  std::optional<std::size_t> language;
  /// Foreign letters per character of the text. Not rounded.
  double foreign_letter_rate = 0;

  bool looks_foreign() const { return foreign_letter_rate >= kForeignLetterRate; }
  bool is_english() const;
};

/// Addresses, versions and names joined by `.` or `@` are left out of the words, not of the rate.
LatinProfile latin_profile(std::u32string_view text);

}  // namespace layard::language
