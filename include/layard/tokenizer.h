/// Texts to token ids and back, as a Hugging Face tokenizer.json says.
///
///   auto tokenizer = layard::Tokenizer::from_file("tokenizer.json").value();
///   std::vector<std::int32_t> ids = tokenizer.encode("I was charged twice.").value();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"

namespace layard {

/// A tokenizer equal to the Rust `tokenizers` package for the components docs/tokenizers.md lists.
/// No special tokens are added; those inside a text become their ids.
/// Ownership: move-only. A moved-from tokenizer may only be destroyed or assigned to.
/// Thread-safety: const members may be called by any number of threads.
/// Source: tokenizers 0.23.
class LAYARD_EXPORT Tokenizer {
 public:
  /// Reads a file of at most 128 MiB.
  /// Errors: kIo; kArtifactIntegrity (larger, or not what the format says; names the field);
  /// kUnsupportedModel (a component that is not implemented; names it).
  static Result<Tokenizer> from_file(const std::string& path);
  /// The same from the file's text.
  static Result<Tokenizer> from_json(std::string_view tokenizer_json);

  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&& other) noexcept;
  ~Tokenizer();

  /// The ids of `text`. Errors: kInvalidRequest when it is not UTF-8.
  Result<std::vector<std::int32_t>> encode(std::string_view text) const;
  /// Each id's token as the vocabulary spells it; empty for an id that no token has.
  std::vector<std::string> tokens(std::span<const std::int32_t> ids) const;
  /// The text of `ids`, special tokens kept; ids that no token has are left out.
  std::string decode(std::span<const std::int32_t> ids) const;

  /// The id of a token's own text, if there is one.
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// Tokens of the model and those added to it.
  std::size_t vocab_size() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace layard
