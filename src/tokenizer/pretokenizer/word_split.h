/// The word patterns that are code here, not regular expressions.
#pragma once

#include <cstddef>
#include <string_view>

#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {

/// GPT-2's pattern, as byte-level tokenizers use it:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// It matches every character, so a text is a row of matches.
/// Source: tokenizers 0.23 (pre_tokenizers/byte_level.rs); its engine is Oniguruma.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// End of the match of GPT-2's pattern that begins at `begin`. REQUIRES: begin < text.size().
std::size_t gpt2_word_end(std::string_view text, std::size_t begin, const CharClasses& classes);

}  // namespace layard::tokenizer
