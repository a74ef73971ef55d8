#include "tokenizer/byte_alphabet.h"

#include <array>

#include "base/utf8.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

constexpr char32_t kSpelledMax = 0x100 + 68;  // 68 bytes are not printable themselves

struct Alphabet {
  std::array<std::string, 256> spelling;
  std::array<std::int16_t, kSpelledMax> byte_of;

  Alphabet() : byte_of{} {
    byte_of.fill(-1);
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      const char32_t code_point = printable ? byte : next++;
      base::append_utf8(spelling[byte], code_point);
      byte_of[code_point] = static_cast<std::int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet kAlphabet;
  return kAlphabet;
}

}  // namespace

std::string_view byte_spelling(std::uint8_t byte) noexcept { return alphabet().spelling[byte]; }

void append_byte_spelling(std::string_view text, std::string& out) {
  const Alphabet& letters = alphabet();
  for (const char c : text) out += letters.spelling[static_cast<unsigned char>(c)];
}

bool append_spelled_bytes(std::string_view text, std::string& out) {
  const Alphabet& letters = alphabet();
  const std::size_t before = out.size();
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    if (c.code_point >= kSpelledMax || letters.byte_of[c.code_point] < 0) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(letters.byte_of[c.code_point]));
    i += c.bytes;
  }
  return true;
}

}  // namespace layard::tokenizer
