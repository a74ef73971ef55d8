/// Tokens back to text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "layard/error.h"

namespace layard::tokenizer {

/// Byte-level spelling back to bytes; what is not UTF-8 then becomes U+FFFD.
struct ByteLevelDecoder {};
/// A blank before each token that does not continue a word, English punctuation tidied.
struct WordPieceDecoder {
  std::string prefix;
  bool cleanup = true;
};
/// The replacement character becomes a blank, or nothing in the first token.
struct MetaspaceDecoder {
  std::string replacement;
  bool drops_first = true;
};
struct ReplaceDecoder {
  std::string pattern;
  std::string content;
};
/// `<0x0A>` tokens to bytes; a run of them that is not UTF-8 becomes U+FFFD for each.
struct ByteFallbackDecoder {};
/// All tokens as one.
struct FuseDecoder {};
/// Removes up to `start` and `stop` times a character from the ends of each token.
struct StripDecoder {
  std::string character;
  std::size_t start = 0;
  std::size_t stop = 0;
};
/// The end-of-word suffix becomes a blank, or nothing in the last token.
struct BpeDecoder {
  std::string suffix;
};

using DecoderStep =
    std::variant<ByteLevelDecoder, WordPieceDecoder, MetaspaceDecoder, ReplaceDecoder,
                 ByteFallbackDecoder, FuseDecoder, StripDecoder, BpeDecoder>;

/// The steps of a "decoder", sequences flattened. Thread-safety: immutable.
/// Source: tokenizers 0.23 (decoders/).
class Decoder {
 public:
  /// `value`: the "decoder" of a file; null makes one that joins tokens with blanks.
  /// Errors: kUnsupportedModel naming a step that is not implemented, kArtifactIntegrity.
  static Result<Decoder> from_json(const base::JsonValue& value);

  /// The text of `tokens`.
  std::string decode(std::vector<std::string> tokens) const;

 private:
  bool present_ = false;
  std::vector<DecoderStep> steps_;
};

/// Appends `bytes` with every ill-formed part as U+FFFD, one for each maximal part that could have
/// begun a character. Source: Rust's String::from_utf8_lossy.
void append_lossy(std::string_view bytes, std::string& out);

}  // namespace layard::tokenizer
