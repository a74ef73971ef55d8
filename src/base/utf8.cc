#include "base/utf8.h"

namespace layard::base {
namespace {

bool is_continuation(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

// Smallest code point a sequence of that many bytes may carry.
constexpr char32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};

std::size_t sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

}  // namespace

Utf8Step decode_utf8(std::string_view text, std::size_t offset) noexcept {
  constexpr Utf8Step kIllFormed{0xFFFD, 1};
  if (offset >= text.size()) return {};
  const auto lead = static_cast<unsigned char>(text[offset]);
  const std::size_t bytes = sequence_bytes(lead);
  if (bytes == 1) return {lead, 1};
  if (bytes == 0 || text.size() - offset < bytes) return kIllFormed;
  char32_t code_point = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[offset + i]);
    if (!is_continuation(byte)) return kIllFormed;
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[bytes] || surrogate || code_point > 0x10FFFF) return kIllFormed;
  return {code_point, bytes};
}

bool is_valid_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Utf8Step step = decode_utf8(text, i);
    if (step.bytes == 1) return false;
    i += step.bytes;
  }
  return true;
}

std::size_t count_code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += is_continuation(static_cast<unsigned char>(c)) ? 0U : 1U;
  return count;
}

void append_utf8(std::string& out, char32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = 0xFFFD;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace layard::base
