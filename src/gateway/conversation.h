/// The name of a conversation: what stays the same from its first turn to its last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gateway/chat_request.h"
#include "http/message.h"

namespace layard::gateway {

struct ConversationKey {
  std::array<std::uint8_t, 16> bytes{};

  friend bool operator==(const ConversationKey&, const ConversationKey&) = default;
  /// 32 lower-case hex digits.
  std::string hex() const;
};

/// 128 bits of HMAC-SHA256 over length-prefixed parts. Who lacks the secret can neither make two
/// conversations meet nor tell from a key what was said.
/// Thread-safety: any number of callers.
class ConversationHasher {
 public:
  using Secret = std::array<std::uint8_t, 32>;

  /// `secret`: random bytes; keys of another secret are others.
  explicit ConversationHasher(const Secret& secret) : secret_(secret) {}

  /// The key of a request: over `tenant` (the name of the caller's key; empty without keys), model,
  /// system text, names of tools and first_user.
  ConversationKey of_request(std::string_view tenant, const ChatRequest& request) const;
  /// The key of a session that the client names: over `tenant`, the header's name without case, and
  /// its value.
  ConversationKey of_session(std::string_view tenant, std::string_view header,
                             std::string_view value) const;
  /// That of the first of `headers` that `fields` has with a value, else that of the request.
  ConversationKey key(std::string_view tenant, const ChatRequest& request,
                      const http::Fields& fields, std::span<const std::string> headers) const;

 private:
  ConversationKey hash(std::string_view kind, std::span<const std::string_view> parts) const;

  Secret secret_;
};

/// Source: RFC 2104 with SHA-256. `key` has any length; the message is the parts one after the
/// other.
std::array<std::uint8_t, 32> hmac_sha256(std::span<const std::uint8_t> key,
                                         std::span<const std::string_view> parts);

}  // namespace layard::gateway

template <>
struct std::hash<layard::gateway::ConversationKey> {
  /// The key's own bytes, which are a keyed hash already.
  std::size_t operator()(const layard::gateway::ConversationKey& key) const noexcept;
};
