#include "tokenizer/normalizer/bert_normalizer.h"

#include "base/utf8.h"
#include "tokenizer/unicode/char_classes.h"
#include "tokenizer/unicode/normal_forms.h"

namespace layard::tokenizer {
namespace {

struct Block {
  char32_t first;
  char32_t last;
};

// The package's list, in which the fifth extension begins at U+2B920 and not at U+2B820.
constexpr Block kChinese[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                              {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                              {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

bool is_chinese(char32_t c) {
  for (const Block& block : kChinese) {
    if (c >= block.first && c <= block.last) return true;
  }
  return false;
}

bool is_line_or_tab(char32_t c) { return c == '\t' || c == '\n' || c == '\r'; }

bool is_dropped(char32_t c, std::uint16_t bits) {
  return c == 0 || c == 0xFFFD || ((bits & kOther) != 0 && !is_line_or_tab(c));
}

bool is_blank(char32_t c, std::uint16_t bits) { return (bits & kSpace) != 0 || is_line_or_tab(c); }

// Whether canonical decomposition changes anything.
bool needs_decomposition(std::string_view text, const CharClasses& classes) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    if ((classes(c.code_point) & (kCanonical | kNonStarter)) != 0) return true;
    i += c.bytes;
  }
  return false;
}

}  // namespace

Result<BertNormalizer> BertNormalizer::from_json(const JsonFields& fields) {
  BertNormalizer bert;
  LAYARD_ASSIGN(bert.clean_text_, fields.boolean("clean_text"));
  LAYARD_ASSIGN(bert.space_chinese_, fields.boolean("handle_chinese_chars"));
  LAYARD_ASSIGN(bert.lowercase_, fields.boolean("lowercase"));
  LAYARD_ASSIGN(bert.strip_accents_, fields.boolean_or("strip_accents", bert.lowercase_));
  return bert;
}

void BertNormalizer::append(std::string_view text, std::string& out) const {
  const std::size_t ascii = ascii_prefix(text);
  if (ascii == text.size()) return append_ascii(text, out);
  std::string spaced;
  append_spaced(text, spaced);
  const CharClasses& classes = CharClasses::get();
  std::string decomposed;
  if (strip_accents_ && needs_decomposition(spaced, classes)) {
    append_normal_form(NormalForm::kNfd, spaced, decomposed);
    spaced.swap(decomposed);
  }
  for (std::size_t i = 0; i < spaced.size();) {
    const Utf8Char c = next_char(spaced, i);
    const std::uint16_t bits = classes(c.code_point);
    if (strip_accents_ && (bits & kNonspacing) != 0) {
      i += c.bytes;
      continue;
    }
    if (lowercase_ && (bits & kLowers) != 0) {
      classes.append_lower(out, c.code_point);
    } else {
      out.append(spaced, i, c.bytes);
    }
    i += c.bytes;
  }
}

// ASCII has no accents and no Chinese characters.
void BertNormalizer::append_ascii(std::string_view text, std::string& out) const {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (clean_text_ && (byte < 0x20 || byte == 0x7F)) {
      if (is_line_or_tab(byte)) out.push_back(' ');
      continue;
    }
    out.push_back(lowercase_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
}

void BertNormalizer::append_spaced(std::string_view text, std::string& out) const {
  const CharClasses& classes = CharClasses::get();
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    const std::string_view bytes = text.substr(i, c.bytes);
    i += c.bytes;
    const std::uint16_t bits = classes(c.code_point);
    if (clean_text_) {
      if (is_dropped(c.code_point, bits)) continue;
      if (is_blank(c.code_point, bits)) {
        out.push_back(' ');
        continue;
      }
    }
    const bool chinese = space_chinese_ && is_chinese(c.code_point);
    if (chinese) out.push_back(' ');
    out.append(bytes);
    if (chinese) out.push_back(' ');
  }
}

}  // namespace layard::tokenizer
