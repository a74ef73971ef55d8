/// The one thing prompt building needs from a tokenizer.
/// Source: laya 0.4.15 common.py, whose calls are `tok(text, add_special_tokens=False)`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace layard::decision {

/// Text to token ids. Thread-safety: encode() may be called from many threads at once.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  /// Ids of well-formed UTF-8 `text`: added tokens inside the text are matched, no special tokens
  /// are added around it, nothing is cut.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
};

}  // namespace layard::decision
