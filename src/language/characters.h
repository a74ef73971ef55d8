/// Single characters, as the detector's rules see them.
///
/// Source: laya 0.3.20 lang.py (str.isalpha, `\w`, `\d`, str.lower, str.isupper,
/// unicodedata.combining). Departs: the tables are Unicode 16.0's for every process, where Python's
/// follow the interpreter; for characters assigned in CPython 3.11's 14.0 they are equal.
/// Thread-safety: pure functions.
#pragma once

#include <cstdint>

namespace layard::language {

enum class CharacterClass : std::uint8_t {
  kOther,
  kLetter,
  kDigit,   // decimal digits of any script
  kNumber,  // further characters with a numeric value, such as U+00BD and U+2163
  kMark,    // combining characters (of a class other than 0)
};

CharacterClass character_class(char32_t code_point);

inline bool is_letter(char32_t code_point) {
  return character_class(code_point) == CharacterClass::kLetter;
}

/// Whether it can stand in a word: letters and numbers that are no decimal digits.
inline bool is_word_character(char32_t code_point) {
  const CharacterClass kind = character_class(code_point);
  return kind == CharacterClass::kLetter || kind == CharacterClass::kNumber;
}

/// Whether it is a capital letter of a script other than Latin.
bool is_capital(char32_t code_point);

/// Lower case, where that is a letter below U+0260 (all that the word lists hold); else the
/// character itself. U+0130 becomes `i`.
char32_t lower(char32_t code_point);

}  // namespace layard::language
