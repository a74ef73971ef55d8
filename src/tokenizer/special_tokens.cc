#include "tokenizer/special_tokens.h"

#include <optional>

#include "base/json.h"

namespace layard::tokenizer {
namespace {

Error unusable(const std::string& what) {
  return {ErrorCode::kUnsupportedModel, "tokenizer_config.json: " + what};
}

// The text of a role; nothing when the file does not name it.
Result<std::optional<std::string>> role_text(const base::JsonValue& config, std::string_view role) {
  const base::JsonValue* value = config.find(role);
  if (value != nullptr && value->is_object()) value = value->find("content");
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  if (!value->is_string()) {
    return Error{ErrorCode::kArtifactIntegrity,
                 "tokenizer_config.json: " + std::string(role) +
                     ": expected a string or an object with \"content\"; restore the file"};
  }
  return std::optional<std::string>(value->text());
}

enum class Need : unsigned char { kRequired, kOptional };

// Sets `id` (and `text`, unless null) of a role.
Status read_role(const base::JsonValue& config, std::string_view role, Need need,
                 const Tokenizer& tokenizer, std::int32_t& id, std::string* text) {
  LAYARD_ASSIGN(const std::optional<std::string> token, role_text(config, role));
  if (!token || token->empty()) {
    if (need == Need::kOptional) return {};
    return unusable("no " + std::string(role) +
                    "; a decision model's prompt needs one, so name it in the file");
  }
  const std::optional<std::int32_t> found = tokenizer.token_to_id(*token);
  if (!found) {
    return unusable(std::string(role) + " is \"" + *token +
                    "\", which tokenizer.json does not have; use the files of one checkpoint");
  }
  id = *found;
  if (text != nullptr) *text = *token;
  return {};
}

}  // namespace

Result<SpecialTokens> SpecialTokens::from_config(std::string_view config,
                                                 const Tokenizer& tokenizer) {
  const auto parsed = base::parse_json(config, base::JsonLimits());
  if (!parsed.ok()) {
    return Error{ErrorCode::kArtifactIntegrity, "tokenizer_config.json: " + parsed.error().message};
  }
  if (!parsed->is_object()) {
    return Error{ErrorCode::kArtifactIntegrity,
                 "tokenizer_config.json: expected an object; restore the original file"};
  }
  SpecialTokens tokens;
  const auto read = [&](std::string_view role, Need need, std::int32_t& id, std::string* text) {
    return read_role(*parsed, role, need, tokenizer, id, text);
  };
  LAYARD_TRY(read("cls_token", Need::kRequired, tokens.cls_id, nullptr));
  LAYARD_TRY(read("sep_token", Need::kRequired, tokens.sep_id, nullptr));
  LAYARD_TRY(read("mask_token", Need::kRequired, tokens.mask_id, &tokens.mask_text));
  LAYARD_TRY(read("pad_token", Need::kOptional, tokens.pad_id, nullptr));
  LAYARD_TRY(read("unk_token", Need::kOptional, tokens.unk_id, nullptr));
  return tokens;
}

}  // namespace layard::tokenizer
