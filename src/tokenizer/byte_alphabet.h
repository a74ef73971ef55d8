/// The byte-level alphabet: a printable character for each of the 256 bytes.
/// Source: tokenizers 0.23 (pre_tokenizers/byte_level.rs, bytes_char).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace layard::tokenizer {

/// The UTF-8 form of the character that stands for `byte`.
std::string_view byte_spelling(std::uint8_t byte) noexcept;

/// Appends the spelling of every byte of `text`.
void append_byte_spelling(std::string_view text, std::string& out);

/// Appends the bytes that `text` spells, or returns false when a character spells none (then
/// `out` is as before).
bool append_spelled_bytes(std::string_view text, std::string& out);

}  // namespace layard::tokenizer
