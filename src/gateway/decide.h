/// What kind of request one is: from its conversation, its size, or the model; or that nobody has
/// to know.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "gateway/arrival.h"
#include "gateway/chat_request.h"
#include "gateway/conversation.h"
#include "gateway/decision_record.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_setup.h"
#include "http/loop.h"
#include "http/message.h"
#include "http/task.h"

namespace layard::gateway {

/// What a decision needs to know. Everything must outlive the decision; the setup is kept as long
/// as a model may still read its question.
struct DecideInput {
  const GatewaySetupPtr& setup;
  const ChatRequest& chat;
  const http::Fields& fields;
  const std::string& caller;
  std::span<const std::size_t> candidates;
};

struct Decided {
  Decision decision;
  /// The conversation's key, where it has one.
  std::optional<ConversationKey> conversation;
  /// Prompt tokens of the text; -1: not known.
  std::int64_t tokens = -1;
  /// Whether this is a decision of its own: for the log.
  bool is_new = false;
  std::string error;  ///< of kError
};

/// Whether every answer to the question leads to the same device first.
bool answer_changes_nothing(const RoutePolicy& policy, std::span<const std::size_t> candidates);

/// Decides, waiting for the model where it must, decide.timeout_ms in all. A conversation is
/// decided once, also when its requests come together. When the client leaves (`cancelled`) what
/// was waited for is given up, and nothing is decided.
http::Task<Decided> decide(http::Loop& loop, GatewayCore& core, DecideInput input,
                           std::stop_token cancelled);

/// Asks the model for the log alone (decide.when: shadow).
http::Task<Decided> decide_in_shadow(http::Loop& loop, GatewayCore& core, DecideInput input,
                                     std::stop_token cancelled);

}  // namespace layard::gateway
