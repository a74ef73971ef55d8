#include "tokenizer/model/wordpiece/wordpiece.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

// Lengths tried at one place. Tokens in use have below 64 bytes, and words are at most 100 or 200
// characters.
constexpr std::size_t kTriedMax = 256;

}  // namespace

Result<WordPieceModel> WordPieceModel::from_file(ModelFile file) {
  if (!file.vocabulary) return bad_file("model.vocab", "the field is missing");
  LAYARD_ASSIGN(const JsonFields fields, JsonFields::of(file.fields, "model"));
  WordPieceModel model;
  LAYARD_ASSIGN(const std::string unk_token, fields.string("unk_token"));
  LAYARD_ASSIGN(model.prefix_, fields.short_string("continuing_subword_prefix"));
  LAYARD_ASSIGN(
      const std::int64_t chars_max,
      fields.whole_number("max_input_chars_per_word", std::numeric_limits<std::int32_t>::max()));
  model.word_chars_max_ = static_cast<std::size_t>(chars_max);
  model.vocabulary_ = *std::move(file.vocabulary);
  LAYARD_TRY(model.vocabulary_.finish());
  LAYARD_TRY(model.check_effort());
  model.unk_id_ = model.vocabulary_.find(unk_token);
  if (model.unk_id_ == Vocabulary::kNoId) {
    return Error{ErrorCode::kUnsupportedModel,
                 "tokenizer.json: model.unk_token: \"" + unk_token +
                     "\" is not in model.vocab, so unknown words cannot be encoded; add the token "
                     "to the vocabulary"};
  }
  return model;
}

// At every character of a word each length down from the longest token's is tried.
Status WordPieceModel::check_effort() const {
  if (std::min(word_chars_max_, vocabulary_.bytes_max()) <= kTriedMax) return {};
  return not_implemented("model.max_input_chars_per_word " + std::to_string(word_chars_max_) +
                         " with a token of " + std::to_string(vocabulary_.bytes_max()) +
                         " bytes, both over " + std::to_string(kTriedMax) + ",");
}

void WordPieceModel::encode(std::string_view word, std::string& scratch,
                            std::vector<std::int32_t>& ids) const {
  const std::size_t first_id = ids.size();
  const auto give_up = [&] {
    ids.resize(first_id);
    ids.push_back(unk_id_);
  };
  if (word.size() > word_chars_max_ && base::count_code_points(word) > word_chars_max_) {
    return give_up();
  }
  for (std::size_t begin = 0; begin < word.size();) {
    // No token is longer than the longest one; the prefix is part of a continuing token.
    const std::size_t prefix_bytes = begin > 0 ? prefix_.size() : 0;
    const std::size_t rest_max =
        vocabulary_.bytes_max() - std::min(vocabulary_.bytes_max(), prefix_bytes);
    std::string_view rest = word.substr(begin);
    if (rest.size() > rest_max) rest = rest.substr(0, previous_char(rest, rest_max + 1));
    scratch.assign(prefix_, 0, prefix_bytes).append(rest);
    std::size_t end = scratch.size();
    std::int32_t id = Vocabulary::kNoId;
    for (; end > prefix_bytes; end = previous_char(scratch, end)) {
      id = vocabulary_.find(std::string_view(scratch).substr(0, end));
      if (id != Vocabulary::kNoId) break;
    }
    if (id == Vocabulary::kNoId) return give_up();
    ids.push_back(id);
    begin += end - prefix_bytes;
  }
}

}  // namespace layard::tokenizer
