/// What the gateway reads of a request before it forwards the body as it is.
///
/// Source: OpenAI's API (Chat Completions, Completions, Responses, Embeddings) and Anthropic's
/// (Messages, counting tokens) for the members' names and forms; 1bit-MONSTER/engine
/// `app/serve.cpp` for the text of the scope `head`.
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/route_policy.h"
#include "layard/error.h"

namespace layard::gateway {

enum class Api : std::uint8_t {
  kChatCompletions,
  kCompletions,
  kResponses,
  kEmbeddings,
  kMessages,
  kCountTokens,
};

/// Where a value stands in the body, in bytes, its quotes included.
struct ModelRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ModelRange&, const ModelRange&) = default;
};

struct ChatRequest {
  Api api = Api::kChatCompletions;
  std::string model;  ///< as asked; empty where it is absent or, last said, no string
  /// Every string that a top-level `model` has, ascending; more than one where the name is
  /// repeated.
  std::vector<ModelRange> model_ranges;
  bool stream = false;
  bool has_tools = false;
  bool has_images = false;  ///< or audio or files: what a model of text alone cannot read
  /// What is classified, cut to ReadOptions::max_chars; empty: there is nothing to ask about.
  std::string text;
  /// Of the uncut text: Unicode scalar values and UTF-8 bytes, for the size gate.
  std::size_t text_chars = 0;
  std::size_t text_bytes = 0;
  /// System and developer messages, `system`, `instructions`; without lines that change from
  /// request to request.
  std::string system;
  std::vector<std::string> tools;  ///< names, sorted, each once
  /// For the conversation's key: users' messages up to the first that a human wrote, as they were
  /// sent, with the SHA-256 of images. Programs send messages of their own before it.
  std::string first_user;
  /// `max_completion_tokens`, else `max_tokens`; `max_output_tokens`. Nothing where it is no
  /// integer or negative.
  std::optional<std::int64_t> output_tokens_max;
  /// Messages that a human wrote: not tools' results, not reminders only.
  std::size_t turns = 0;
};

struct ReadOptions {
  GateScope scope = GateScope::kFirstUser;
  /// Unicode scalar values that `text` may have: of a longer one both ends are kept, with
  /// `\n...\n` between (an ellipsis, U+2026) that is not counted. 0: no bound.
  std::int64_t max_chars = 0;
};

/// Reads a body. Members that are not named here are passed over, whatever they hold; embeddings
/// have no text. Blocks of without_reminders() are no part of a user's text, and a user's message
/// that has nothing else is not the first one.
/// Errors: kInvalidRequest: those of read_body_tree() and read_content(); `messages` missing or no
/// list, an item of it no object, `stream` no boolean, `prompt`, `input`, `system`, `instructions`
/// or `tools` of another type. The message names the member and what was found.
/// Bounds: time is linear in the body; memory a few times its size.
Result<ChatRequest> read_chat_request(Api api, std::string_view body, const ReadOptions& options);

/// The body with every model value replaced by `model`, quoted; the other bytes as they are.
/// REQUIRES: `ranges` are those of this body.
std::string with_model(std::string_view body, std::span<const ModelRange> ranges,
                       std::string_view model);

/// Both ends of `text`, as ReadOptions::max_chars says. REQUIRES: valid UTF-8, max_chars >= 0.
std::string both_ends(std::string_view text, std::size_t text_chars, std::int64_t max_chars);

}  // namespace layard::gateway
