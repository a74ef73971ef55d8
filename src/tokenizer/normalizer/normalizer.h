/// Changes of the text before it is cut: normal forms, case, accents, replacements.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "tokenizer/normalizer/bert_normalizer.h"
#include "tokenizer/unicode/normal_forms.h"

namespace layard::tokenizer {

struct Lowercase {};
/// Removes characters of category M.
struct StripAccents {};
/// Removes white space at the ends.
struct Strip {
  bool left = false;
  bool right = false;
};
/// Replaces every occurrence of a non-empty text.
struct Replace {
  std::string pattern;
  std::string content;
};
/// Puts a text before a non-empty one.
struct Prepend {
  std::string text;
};
/// Spells bytes in the byte-level alphabet.
struct ByteLevelSpelling {};

using NormalizerStep = std::variant<NormalForm, Lowercase, StripAccents, Strip, Replace, Prepend,
                                    ByteLevelSpelling, BertNormalizer>;

/// The steps of a "normalizer", sequences flattened. Thread-safety: immutable.
/// Source: tokenizers 0.23 (normalizers/).
class Normalizer {
 public:
  /// `value`: the "normalizer" of a file; null makes one without steps.
  /// Errors: kUnsupportedModel naming a step that is not implemented, kArtifactIntegrity.
  static Result<Normalizer> from_json(const base::JsonValue& value);

  bool empty() const noexcept { return steps_.empty(); }

  /// Appends the new form of `text`. REQUIRES: well-formed UTF-8.
  void append(std::string_view text, std::string& out) const;

 private:
  Status add(const std::string& type, const JsonFields& fields);
  Status check_growth() const;

  std::vector<NormalizerStep> steps_;
};

/// Appends `text` with every occurrence of `pattern` replaced. REQUIRES: a non-empty pattern.
void append_replaced(std::string_view text, std::string_view pattern, std::string_view content,
                     std::string& out);

}  // namespace layard::tokenizer
