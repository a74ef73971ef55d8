/// The word lists by which Latin-script languages are told apart, and the letters English lacks.
///
/// Source: laya 0.3.20 lang.py `_STOP`, `_SHARED_WORDS`, `_NON_EN_DIACRITICS` (Apache-2.0, by
/// NandhaKishorM and contributors), as laya-apple 1.7.0 carries them: which words and letters, and
/// the languages' order. Thread-safety: constant after the first call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace layard::language {

/// Common words of one language, in lower case, separated by blanks.
struct WordList {
  std::string_view language;  // ISO 639-1
  std::string_view words;
};

inline constexpr std::size_t kLanguages = 10;
inline constexpr std::size_t kEnglish = 0;  // its place in the lists

/// In the order that decides ties; English first.
std::span<const WordList, kLanguages> word_lists();

/// Bytes of the longest listed word; no longer text is worth looking up.
inline constexpr std::size_t kWordBytesMax = 16;

/// The languages that list a word: bit i is word_lists()[i]. More than one bit: a shared word.
using LanguageSet = std::uint16_t;
LanguageSet languages_of(std::string_view word);

/// Whether it is one of the letters that other Latin-script languages have and English lacks, in
/// lower case.
bool is_foreign_letter(char32_t letter);

}  // namespace layard::language
