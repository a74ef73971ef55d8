/// How a normalized text is cut into the pieces that the model encodes.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "tokenizer/pieces.h"
#include "tokenizer/pretokenizer/split_behavior.h"

namespace layard::tokenizer {

/// Words by GPT-2's pattern, then bytes spelled in the byte-level alphabet.
struct ByteLevel {
  bool add_prefix_space = true;
  bool use_regex = true;
  bool spell = true;  // false: the model takes the bytes themselves
};

/// Blanks become a visible character, put before the text too, and pieces begin with it.
struct Metaspace {
  enum class Prepend : unsigned char { kFirst, kNever, kAlways };
  std::string replacement;
  Prepend prepend = Prepend::kAlways;
  bool split = true;
};

/// Cuts at a literal text, or (gpt2) at what GPT-2's pattern matches.
struct Split {
  std::string pattern;
  bool gpt2 = false;
  SplitBehavior behavior = SplitBehavior::kRemoved;
  bool invert = false;
};

/// Cuts at white space, then isolates punctuation.
struct BertSplit {};
/// Keeps runs of \w and runs of neither \w nor white space.
struct WordRuns {};
/// Cuts at white space.
struct SpaceSplit {};

struct Punctuation {
  SplitBehavior behavior = SplitBehavior::kIsolated;
};

struct Digits {
  bool individual = false;
};

/// Cuts at one character and removes it.
struct Delimiter {
  std::string character;
};

using PreTokenizerStep = std::variant<ByteLevel, Metaspace, Split, BertSplit, WordRuns, SpaceSplit,
                                      Punctuation, Digits, Delimiter>;

/// The steps of a "pre_tokenizer", sequences flattened. Thread-safety: immutable after loading.
/// Source: tokenizers 0.23 (pre_tokenizers/).
class PreTokenizer {
 public:
  /// `value`: the "pre_tokenizer" of a file; null makes one without steps.
  /// Errors: kUnsupportedModel naming a step that is not implemented, kArtifactIntegrity.
  static Result<PreTokenizer> from_json(const base::JsonValue& value);

  /// If the last step is ByteLevel, lets it hand out raw bytes and returns true.
  bool leave_bytes_raw();

  /// Whether Metaspace prepends to the first piece only. The package tells which piece that is by
  /// its place in the text before normalization.
  bool needs_original_text() const noexcept;

  void apply(Pieces& pieces) const;

 private:
  Status check_order() const;

  std::vector<PreTokenizerStep> steps_;
};

}  // namespace layard::tokenizer
