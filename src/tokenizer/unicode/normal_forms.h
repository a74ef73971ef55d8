/// Unicode normal forms, equal to those of the Rust package (tables of Unicode 9).
/// Source: tokenizers 0.23, unicode-normalization-alignments 0.1.12.
#pragma once

#include <string>
#include <string_view>

namespace layard::tokenizer {

enum class NormalForm : unsigned char { kNfc, kNfd, kNfkc, kNfkd };

/// Appends the normal form of `text` to `out`. Linear but for the sorting of marks.
/// REQUIRES: `text` is well-formed UTF-8. Thread-safety: pure.
void append_normal_form(NormalForm form, std::string_view text, std::string& out);

}  // namespace layard::tokenizer
