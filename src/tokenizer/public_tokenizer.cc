// The front door include/layard/tokenizer.h over the room's tokenizer.
#include <utility>

#include "base/utf8.h"
#include "layard/tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace layard {
struct Tokenizer::Impl {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&& other) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&& other) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::from_file(const std::string& path) {
  LAYARD_ASSIGN(auto tokenizer, tokenizer::Tokenizer::from_file(path));
  return Tokenizer(std::make_unique<Impl>(Impl{std::move(tokenizer)}));
}

Result<Tokenizer> Tokenizer::from_json(std::string_view tokenizer_json) {
  LAYARD_ASSIGN(auto tokenizer, tokenizer::Tokenizer::from_json(tokenizer_json));
  return Tokenizer(std::make_unique<Impl>(Impl{std::move(tokenizer)}));
}

Result<std::vector<std::int32_t>> Tokenizer::encode(std::string_view text) const {
  if (!base::is_valid_utf8(text)) {
    return Error{ErrorCode::kInvalidRequest,
                 "the text to tokenize is not UTF-8; convert it before the call"};
  }
  std::vector<std::int32_t> ids;
  impl_->tokenizer->encode(text, ids);
  return ids;
}

std::vector<std::string> Tokenizer::tokens(std::span<const std::int32_t> ids) const {
  std::vector<std::string> texts;
  texts.reserve(ids.size());
  for (const std::int32_t id : ids) texts.emplace_back(impl_->tokenizer->id_to_token(id));
  return texts;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  return impl_->tokenizer->decode(ids);
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  return impl_->tokenizer->token_to_id(token);
}

std::size_t Tokenizer::vocab_size() const { return impl_->tokenizer->vocab_size(); }

}  // namespace layard
