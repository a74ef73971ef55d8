/// What every code point is, in the eyes of the Rust `tokenizers` package.
///
/// The package asks several libraries with tables of different Unicode versions; equal ids need
/// equal answers, so the table here was made by asking the package itself
/// (tools/tokenizer_diff/make_unicode_tables.py).
/// Source: tokenizers 0.23.
/// Thread-safety: immutable after the first use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layard::tokenizer {

/// Bits of one code point. The generator writes them by position: never renumber.
enum CharClass : std::uint16_t {
  kLetter = 1U << 0,       // \p{L} of its regular expressions
  kNumber = 1U << 1,       // \p{N} of its regular expressions
  kNumeric = 1U << 2,      // Rust's char::is_numeric
  kSpace = 1U << 3,        // White_Space; its three notions agree
  kWord = 1U << 4,         // \w
  kPunctuation = 1U << 5,  // ASCII punctuation or category P
  kOther = 1U << 6,        // categories Cc, Cf, Co without tab and line ends
  kNonspacing = 1U << 7,   // category Mn
  kCombining = 1U << 8,    // category M
  kNonStarter = 1U << 9,   // combining class other than 0
  kCanonical = 1U << 10,   // has a canonical decomposition
  kCompatible = 1U << 11,  // has a canonical or compatibility decomposition
  kNfcInert = 1U << 12,    // NFC leaves it alone and nothing before joins it
  kLowers = 1U << 13,      // lower case differs
};

/// The classes as a two-stage table.
class CharClasses {
 public:
  /// The one table; built on first use in a few milliseconds.
  static const CharClasses& get();

  /// Bits of `code_point`. REQUIRES: at most U+10FFFF.
  std::uint16_t operator()(char32_t code_point) const noexcept {
    return pages_[std::size_t{page_of_[code_point >> kPageBits]} + (code_point & kPageMask)];
  }

  /// Appends the lower case of `code_point`, as Rust's char::to_lowercase.
  void append_lower(std::string& out, char32_t code_point) const;

  /// End of the white space at the start of `text`.
  std::size_t leading_space_end(std::string_view text) const noexcept;
  /// Start of the white space at the end of `text`.
  std::size_t trailing_space_begin(std::string_view text) const noexcept;

 private:
  static constexpr unsigned kPageBits = 7;
  static constexpr char32_t kPageMask = (1U << kPageBits) - 1;
  static constexpr std::size_t kPages = 0x110000U >> kPageBits;

  CharClasses();

  std::array<std::uint32_t, kPages> page_of_{};  // offset of the page in pages_
  std::vector<std::uint16_t> pages_;
};

/// A decoded code point of well-formed UTF-8 and its bytes.
struct Utf8Char {
  char32_t code_point;
  std::size_t bytes;
};

/// Decodes at `offset`. REQUIRES: `text` is well-formed and `offset` starts a character.
inline Utf8Char next_char(std::string_view text, std::size_t offset) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[offset + i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {((lead & 0x1FU) << 6U) | (byte(1) & 0x3FU), 2};
  if (lead < 0xF0) {
    return {((lead & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU), 3};
  }
  return {((lead & 0x07U) << 18U) | ((byte(1) & 0x3FU) << 12U) | ((byte(2) & 0x3FU) << 6U) |
              (byte(3) & 0x3FU),
          4};
}

/// Start of the character that ends before `offset`. REQUIRES: offset > 0, well-formed text.
inline std::size_t previous_char(std::string_view text, std::size_t offset) noexcept {
  do {
    --offset;
  } while (offset > 0 && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U);
  return offset;
}

/// Length of the ASCII text at the start of `text`.
std::size_t ascii_prefix(std::string_view text) noexcept;

}  // namespace layard::tokenizer
