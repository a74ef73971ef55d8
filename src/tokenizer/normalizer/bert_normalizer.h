/// BERT's text cleaning in one pass where it can be.
/// Source: tokenizers 0.23 (normalizers/bert.rs).
#pragma once

#include <string>
#include <string_view>

#include "layard/error.h"
#include "tokenizer/json_fields.h"

namespace layard::tokenizer {

/// Removes control characters and makes white space blanks (clean_text), puts blanks around
/// Chinese characters, strips accents (by default when lower-casing), lower-cases - in this order.
class BertNormalizer {
 public:
  static Result<BertNormalizer> from_json(const JsonFields& fields);

  void append(std::string_view text, std::string& out) const;

 private:
  void append_ascii(std::string_view text, std::string& out) const;
  void append_spaced(std::string_view text, std::string& out) const;

  bool clean_text_ = true;
  bool space_chinese_ = true;
  bool strip_accents_ = true;
  bool lowercase_ = true;
};

}  // namespace layard::tokenizer
