/// Writing systems: which one a character belongs to, and how a text is divided between them.
///
/// Source: laya 0.3.20 lang.py `_script_of`, `detect_script`, `script_profile`,
/// `_non_latin_words` (ranges, their names, ties). Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace layard::language {

enum class Script : std::uint8_t {
  kLatin,
  kGreek,
  kCyrillic,
  kArmenian,
  kHebrew,
  kArabic,
  kDevanagari,
  kBengali,
  kGurmukhi,
  kGujarati,
  kOriya,
  kTamil,
  kTelugu,
  kKannada,
  kMalayalam,
  kSinhala,
  kThai,
  kLao,
  kTibetan,
  kMyanmar,
  kGeorgian,
  kEthiopic,
  kKhmer,
  kHangul,
  kKana,
  kHan,
  kOther,  // letters of no range above: Cherokee, half-width kana, mathematical letters, ...
};
inline constexpr std::size_t kScripts = static_cast<std::size_t>(Script::kOther) + 1;

/// `latin`, `greek`, ..., `other`.
std::string_view script_name(Script script);

/// The script whose blocks the code point lies in, letter or not; nothing for Latin and for code
/// points of no listed block.
std::optional<Script> block_script(char32_t code_point);

/// The script of a letter. REQUIRES: is_letter(letter).
Script letter_script(char32_t letter);

/// The letters of a text, by script.
struct ScriptCounts {
  struct Entry {
    Script script;
    std::size_t letters;
  };
  std::size_t letters = 0;
  std::size_t latin = 0;
  /// Scripts other than Latin that occur, in order of first appearance.
  std::vector<Entry> others;

  /// Share of all letters that are not Latin, in 4 decimals. 0 without letters.
  double non_latin_fraction() const;
  /// The script with most letters besides Latin; the first that appears wins a tie. Nothing when
  /// there is none.
  std::optional<Entry> largest_other() const;
};

ScriptCounts count_scripts(std::u32string_view text);

/// Whether the text holds a word of another script: two or more characters of one script's blocks
/// in a row, combining marks passed over, that do not begin with a capital. So symbols that stand
/// alone and names do not count.
bool has_non_latin_word(std::u32string_view text);

}  // namespace layard::language
