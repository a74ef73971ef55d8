#include "tokenizer/model/bpe/bpe.h"

#include <algorithm>
#include <span>
#include <utility>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

constexpr std::size_t kIndexedCharacters = 0x10000;
constexpr std::size_t kSeamTokenBytesMax = std::size_t{1} << 20U;

// `<0x0A>`: how byte fallback spells a byte.
std::string fallback_token(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4U] + kDigits[byte & 15U] + ">";
}

}  // namespace

Result<BpeModel> BpeModel::from_file(ModelFile file, Input input) {
  if (!file.vocabulary) return bad_file("model.vocab", "the field is missing");
  if (!file.merges) return bad_file("model.merges", "the field is missing");
  BpeModel model;
  model.input_ = input;
  LAYARD_TRY(model.read_options(file));
  model.vocabulary_ = *std::move(file.vocabulary);
  LAYARD_TRY(model.vocabulary_.finish());
  std::vector<MergeRule> rules;
  LAYARD_TRY(model.read_merges(*file.merges, rules));
  model.merges_.build(rules);
  model.index_characters();
  model.build_seams(rules);
  LAYARD_TRY(model.check_unknown());
  return model;
}

Status BpeModel::read_options(const ModelFile& file) {
  LAYARD_ASSIGN(const JsonFields fields, JsonFields::of(file.fields, "model"));
  const base::JsonValue* dropout = fields.find("dropout");
  if (dropout != nullptr && dropout->as_double() != 0.0) {
    return not_implemented("model.dropout " + dropout->text());
  }
  LAYARD_ASSIGN(unk_token_, fields.optional_string("unk_token"));
  LAYARD_ASSIGN(fuse_unk_, fields.boolean_or("fuse_unk", false));
  LAYARD_ASSIGN(byte_fallback_, fields.boolean_or("byte_fallback", false));
  LAYARD_ASSIGN(ignore_merges_, fields.boolean_or("ignore_merges", false));
  LAYARD_ASSIGN(prefix_, fields.short_string_or_empty("continuing_subword_prefix"));
  LAYARD_ASSIGN(suffix_, fields.short_string_or_empty("end_of_word_suffix"));
  return {};
}

Status BpeModel::read_merges(const MergeTexts& merges, std::vector<MergeRule>& rules) {
  constexpr std::size_t kChunk = 1024;  // look-ups that share one wait for memory
  std::vector<std::string_view> texts;  // left, right, both of every merge of a chunk
  std::vector<std::string> joined(kChunk);
  std::vector<std::int32_t> ids;
  rules.reserve(merges.size());
  for (std::size_t begin = 0; begin < merges.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, merges.size());
    texts.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view right = merges.right(i);
      std::string_view both = merges.both(i);
      if (!prefix_.empty()) {
        // The package drops as many bytes of the right text as the prefix has.
        if (right.size() < prefix_.size()) {
          return bad_file("model.merges[" + std::to_string(i) + "]",
                          "the second text is shorter than continuing_subword_prefix");
        }
        std::string& text = joined[i - begin];
        text.assign(merges.left(i)).append(right.substr(prefix_.size()));
        both = text;
      }
      texts.insert(texts.end(), {merges.left(i), right, both});
    }
    ids.resize(texts.size());
    vocabulary_.find_all(texts, ids);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] != Vocabulary::kNoId) continue;
      return bad_file("model.merges[" + std::to_string(begin + k / 3) + "]",
                      "\"" + std::string(texts[k]) + "\" is not in model.vocab");
    }
    for (std::size_t k = 0; k < ids.size(); k += 3) {
      rules.push_back({static_cast<std::uint32_t>(ids[k]), static_cast<std::uint32_t>(ids[k + 1]),
                       static_cast<std::uint32_t>(ids[k + 2]),
                       static_cast<std::uint32_t>(texts[k + 2].size())});
    }
  }
  return {};
}

void BpeModel::index_characters() {
  character_ids_.assign(kIndexedCharacters, Vocabulary::kNoId);
  for (std::uint32_t entry = 0; entry < vocabulary_.size(); ++entry) {
    const std::string_view text = vocabulary_.text_at(entry);
    if (text.empty() || text.size() > 3) continue;
    const Utf8Char c = next_char(text, 0);
    if (c.bytes == text.size()) character_ids_[c.code_point] = vocabulary_.id_at(entry);
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    raw_byte_ids_[byte] = vocabulary_.find(byte_spelling(static_cast<std::uint8_t>(byte)));
    fallback_ids_[byte] = vocabulary_.find(fallback_token(byte));
  }
  raw_bytes_complete_ = prefix_.empty() && suffix_.empty() &&
                        std::ranges::count(raw_byte_ids_, Vocabulary::kNoId) == 0;
  if (unk_token_) unk_id_ = vocabulary_.find(*unk_token_);
}

void BpeModel::build_seams(const std::vector<MergeRule>& rules) {
  // With a prefix or suffix, or an empty token, a part may be as long as the whole: then long
  // words are merged in one go.
  if (!prefix_.empty() || !suffix_.empty() || vocabulary_.find("") != Vocabulary::kNoId) return;
  // Sorting by length takes memory for every length up to the longest.
  if (vocabulary_.bytes_max() > kSeamTokenBytesMax) return;
  std::vector<bool> initial(vocabulary_.id_end());
  const auto mark = [&initial](std::int32_t id) {
    if (id != Vocabulary::kNoId) initial[static_cast<std::size_t>(id)] = true;
  };
  mark(unk_id_);
  for (const auto& table :
       {std::span<const std::int32_t>(character_ids_), std::span<const std::int32_t>(raw_byte_ids_),
        std::span<const std::int32_t>(fallback_ids_)}) {
    for (const std::int32_t id : table) mark(id);
  }
  for (std::uint32_t entry = 0; entry < vocabulary_.size(); ++entry) {
    const std::string_view text = vocabulary_.text_at(entry);
    if (text.size() == 4 && next_char(text, 0).bytes == 4) mark(vocabulary_.id_at(entry));
  }
  seams_.build(rules, initial);
}

bool BpeModel::covers_all_bytes() const {
  if (input_ == Input::kRawBytes && raw_bytes_complete_) return true;
  return byte_fallback_ && std::ranges::count(fallback_ids_, Vocabulary::kNoId) == 0;
}

Status BpeModel::check_unknown() const {
  if (!unk_token_ || unk_id_ != Vocabulary::kNoId || covers_all_bytes()) return {};
  return Error{ErrorCode::kUnsupportedModel,
               "tokenizer.json: model.unk_token: \"" + *unk_token_ +
                   "\" is not in model.vocab, so unknown characters cannot be encoded; add the "
                   "token to the vocabulary"};
}

void BpeModel::encode(std::string_view piece, Merger& merger,
                      std::vector<std::int32_t>& ids) const {
  std::string spelled;
  const bool raw = input_ == Input::kRawBytes;
  if (raw && (ignore_merges_ || !raw_bytes_complete_)) append_byte_spelling(piece, spelled);
  if (ignore_merges_) {
    const std::int32_t whole = vocabulary_.find(raw ? std::string_view(spelled) : piece);
    if (whole != Vocabulary::kNoId) {
      ids.push_back(whole);
      return;
    }
  }
  merger.clear();
  if (raw && raw_bytes_complete_) {
    for (const char c : piece) {
      merger.add(static_cast<std::uint32_t>(raw_byte_ids_[static_cast<unsigned char>(c)]));
    }
  } else {
    add_characters(raw ? std::string_view(spelled) : piece, merger);
  }
  merger.merge_into(merges_, seams_, ids);
}

std::int32_t BpeModel::find_character(std::string_view piece, std::size_t offset,
                                      std::size_t bytes) const {
  if (bytes > 3) return vocabulary_.find(piece.substr(offset, bytes));
  return character_ids_[next_char(piece, offset).code_point];
}

bool BpeModel::add_bytes(std::string_view text, Merger& merger) const {
  const auto id_of = [this](char c) { return fallback_ids_[static_cast<unsigned char>(c)]; };
  for (const char c : text) {
    if (id_of(c) == Vocabulary::kNoId) return false;
  }
  for (const char c : text) merger.add(static_cast<std::uint32_t>(id_of(c)));
  return true;
}

void BpeModel::add_characters(std::string_view piece, Merger& merger) const {
  // An unknown character waits here: with fuse_unk the next one joins it. Byte fallback does not
  // end the wait, so its tokens may come before the unknown token, as in the package.
  bool unknown_waits = false;
  std::string decorated;
  for (std::size_t i = 0; i < piece.size();) {
    const std::size_t bytes = next_char(piece, i).bytes;
    const std::size_t next = i + bytes;
    const bool prefixed = i > 0 && !prefix_.empty();
    const bool suffixed = next == piece.size() && !suffix_.empty();
    std::string_view text = piece.substr(i, bytes);
    std::int32_t id = Vocabulary::kNoId;
    if (prefixed || suffixed) {
      decorated = (prefixed ? prefix_ : "") + std::string(text) + (suffixed ? suffix_ : "");
      text = decorated;
      id = vocabulary_.find(text);
    } else {
      id = find_character(piece, i, bytes);
    }
    i = next;
    if (id != Vocabulary::kNoId) {
      if (std::exchange(unknown_waits, false)) merger.add(static_cast<std::uint32_t>(unk_id_));
      merger.add(static_cast<std::uint32_t>(id));
      continue;
    }
    if (byte_fallback_ && add_bytes(text, merger)) continue;
    if (!unk_token_) continue;
    if (unknown_waits && !fuse_unk_) merger.add(static_cast<std::uint32_t>(unk_id_));
    unknown_waits = true;
  }
  if (unknown_waits) merger.add(static_cast<std::uint32_t>(unk_id_));
}

}  // namespace layard::tokenizer
