#include "tokenizer/tokenizer.h"

#include <utility>

#include "base/file_limits.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/tokenizer_file.h"

namespace layard::tokenizer {
namespace {

// The type of a model, which old files do not name: then its fields tell.
Result<std::string> model_type(const ModelFile& file) {
  LAYARD_ASSIGN(const JsonFields fields, JsonFields::of(file.fields, "model"));
  if (fields.find("type") != nullptr) return fields.string("type");
  if (file.vocabulary && file.merges) return std::string("BPE");
  if (file.vocabulary && fields.find("max_input_chars_per_word") != nullptr) {
    return std::string("WordPiece");
  }
  return bad_file("model.type", "the field is missing, and the others are those of no known model");
}

}  // namespace

Tokenizer::Tokenizer(Normalizer normalizer, PreTokenizer pre_tokenizer, Model model,
                     AddedTokens added, Decoder decoder)
    : normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      model_(std::move(model)),
      added_(std::move(added)),
      decoder_(std::move(decoder)) {}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_file(const std::filesystem::path& path) {
  LAYARD_ASSIGN(const std::string json, base::read_text_file(path, base::kTokenizerFileBytesMax));
  auto tokenizer = from_json(json);
  if (tokenizer.ok()) return tokenizer;
  return Error{tokenizer.error().code, "'" + path.string() + "': " + tokenizer.error().message};
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_json(std::string_view tokenizer_json) {
  LAYARD_ASSIGN(TokenizerFile file, read_tokenizer_file(tokenizer_json));
  LAYARD_ASSIGN(const std::string type, model_type(*file.model));
  if (type != "BPE" && type != "WordPiece") return not_implemented("model type " + type);
  LAYARD_ASSIGN(Normalizer normalizer, Normalizer::from_json(file.normalizer));
  LAYARD_ASSIGN(PreTokenizer pre_tokenizer, PreTokenizer::from_json(file.pre_tokenizer));
  LAYARD_ASSIGN(Decoder decoder, Decoder::from_json(file.decoder));
  if (pre_tokenizer.needs_original_text() && !normalizer.empty()) {
    return not_implemented("pre_tokenizer Metaspace with prepend_scheme first and a normalizer");
  }
  std::optional<Model> model;
  if (type == "BPE") {
    const auto input =
        pre_tokenizer.leave_bytes_raw() ? BpeModel::Input::kRawBytes : BpeModel::Input::kText;
    LAYARD_ASSIGN(model, BpeModel::from_file(*std::move(file.model), input));
  } else {
    LAYARD_ASSIGN(model, WordPieceModel::from_file(*std::move(file.model)));
  }
  const Vocabulary& vocabulary =
      std::visit([](const auto& known) -> const Vocabulary& { return known.vocabulary(); }, *model);
  LAYARD_ASSIGN(AddedTokens added,
                AddedTokens::from_json(file.added_tokens, vocabulary, normalizer));
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(normalizer),
                                                        std::move(pre_tokenizer), *std::move(model),
                                                        std::move(added), std::move(decoder)));
}

const Vocabulary& Tokenizer::vocabulary() const {
  return std::visit([](const auto& model) -> const Vocabulary& { return model.vocabulary(); },
                    model_);
}

void Tokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::string repaired;
  if (!base::is_valid_utf8(text)) {
    append_lossy(text, repaired);
    text = repaired;
  }
  Pieces pieces(text);
  added_.cut(normalizer_, pieces);
  pre_tokenizer_.apply(pieces);
  const auto encode_with = [&](auto&& encode_piece) {
    for (const Piece& piece : pieces.list()) {
      if (piece.is_text()) {
        encode_piece(pieces.text_of(piece));
      } else {
        ids.push_back(piece.id);
      }
    }
  };
  if (const auto* bpe = std::get_if<BpeModel>(&model_)) {
    Merger merger;
    encode_with([&](std::string_view piece) { bpe->encode(piece, merger, ids); });
  } else {
    const WordPieceModel& wordpiece = std::get<WordPieceModel>(model_);
    std::string scratch;
    encode_with([&](std::string_view piece) { wordpiece.encode(piece, scratch, ids); });
  }
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, SpecialText special) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const std::int32_t id : ids) {
    const std::string* added = added_.text_of(id);
    if (added == nullptr && !vocabulary().has_id(id)) continue;
    const std::string_view text = added != nullptr ? *added : vocabulary().text_of(id);
    if (special == SpecialText::kSkip && added_.is_special(text)) continue;
    tokens.emplace_back(text);
  }
  return decoder_.decode(std::move(tokens));
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  if (const auto added = added_.find(token)) return added;
  const std::int32_t id = vocabulary().find(token);
  if (id == Vocabulary::kNoId) return std::nullopt;
  return id;
}

std::string_view Tokenizer::id_to_token(std::int32_t id) const {
  const std::string* added = added_.text_of(id);
  return added != nullptr ? std::string_view(*added) : vocabulary().text_of(id);
}

std::size_t Tokenizer::vocab_size() const {
  return vocabulary().size() + added_.beyond(vocabulary());
}

}  // namespace layard::tokenizer
