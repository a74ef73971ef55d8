#include "tokenizer/pretokenizer/word_split.h"

#include <array>
#include <cstdint>

namespace layard::tokenizer {
namespace {

enum Kind : std::uint8_t { kWordLetter, kWordNumber, kWordSpace, kWordOther, kWide };

// Kinds of the ASCII characters; bytes of longer characters are kWide.
constexpr std::array<std::uint8_t, 256> make_ascii_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool number = c >= '0' && c <= '9';
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    kinds[c] = c >= 0x80 ? kWide
               : letter  ? kWordLetter
               : number  ? kWordNumber
               : space   ? kWordSpace
                         : kWordOther;
  }
  return kinds;
}

constexpr std::array<std::uint8_t, 256> kAsciiKinds = make_ascii_kinds();

struct KindAt {
  std::uint8_t kind;
  std::size_t bytes;
};

KindAt kind_at(std::string_view text, std::size_t i, const CharClasses& classes) {
  const std::uint8_t kind = kAsciiKinds[static_cast<unsigned char>(text[i])];
  if (kind != kWide) return {kind, 1};
  const Utf8Char c = next_char(text, i);
  const std::uint16_t bits = classes(c.code_point);
  if ((bits & kLetter) != 0) return {kWordLetter, c.bytes};
  if ((bits & kNumber) != 0) return {kWordNumber, c.bytes};
  return {(bits & kSpace) != 0 ? kWordSpace : kWordOther, c.bytes};
}

// End of the run of one kind that holds [begin, i).
std::size_t run_end(std::string_view text, std::size_t i, std::uint8_t kind,
                    const CharClasses& classes) {
  while (i < text.size()) {
    const KindAt next = kind_at(text, i, classes);
    if (next.kind != kind) break;
    i += next.bytes;
  }
  return i;
}

// Bytes of the English ending at `begin` (an apostrophe), or 0.
std::size_t ending_bytes(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin + 1, 2);
  if (rest.empty()) return 0;
  if (rest[0] == 's' || rest[0] == 't' || rest[0] == 'm' || rest[0] == 'd') return 2;
  return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
}

}  // namespace

std::size_t gpt2_word_end(std::string_view text, std::size_t begin, const CharClasses& classes) {
  if (text[begin] == '\'') {
    const std::size_t bytes = ending_bytes(text, begin);
    if (bytes > 0) return begin + bytes;
  }
  const KindAt first = kind_at(text, begin, classes);
  if (first.kind != kWordSpace) return run_end(text, begin + first.bytes, first.kind, classes);
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const KindAt second = kind_at(text, begin + 1, classes);
    if (second.kind != kWordSpace) {
      return run_end(text, begin + 1 + second.bytes, second.kind, classes);
    }
  }
  // White space leaves its last character to what follows it, unless it is alone or at the end.
  const std::size_t end = run_end(text, begin + first.bytes, kWordSpace, classes);
  if (end == text.size()) return end;
  const std::size_t last = previous_char(text, end);
  return last > begin ? last : end;
}

}  // namespace layard::tokenizer
