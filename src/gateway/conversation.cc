#include "gateway/conversation.h"

#include <cstring>
#include <vector>

#include "base/sha256.h"

namespace layard::gateway {
namespace {

constexpr std::size_t kBlockBytes = 64;  // of SHA-256
using Digest = std::array<std::uint8_t, 32>;

std::uint8_t nibble(char digit) {
  return static_cast<std::uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

Digest digest_of(const base::Sha256& hash) {
  const std::string hex = hash.hex();
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(nibble(hex[2 * i]) << 4U | nibble(hex[2 * i + 1]));
  }
  return digest;
}

base::Sha256 padded(const std::array<std::uint8_t, kBlockBytes>& key, std::uint8_t pad) {
  std::array<std::uint8_t, kBlockBytes> block = key;
  for (std::uint8_t& byte : block) byte ^= pad;
  base::Sha256 hash;
  hash.update(std::as_bytes(std::span(block)));
  return hash;
}

// Eight bytes, the lowest first: no two lists of parts read the same.
std::string length_prefix(std::string_view part) {
  std::string prefix;
  for (std::uint64_t left = part.size(), i = 0; i < 8; ++i, left >>= 8U) {
    prefix.push_back(static_cast<char>(left & 0xFFU));
  }
  return prefix;
}

}  // namespace

std::array<std::uint8_t, 32> hmac_sha256(std::span<const std::uint8_t> key,
                                         std::span<const std::string_view> parts) {
  std::array<std::uint8_t, kBlockBytes> block{};
  if (key.size() > kBlockBytes) {
    base::Sha256 hash;
    hash.update(std::as_bytes(key));
    const Digest digest = digest_of(hash);
    std::memcpy(block.data(), digest.data(), digest.size());
  } else if (!key.empty()) {
    std::memcpy(block.data(), key.data(), key.size());
  }
  base::Sha256 inner = padded(block, 0x36);
  for (const std::string_view part : parts) inner.update(part);
  const Digest inner_digest = digest_of(inner);
  base::Sha256 outer = padded(block, 0x5C);
  outer.update(std::as_bytes(std::span(inner_digest)));
  return digest_of(outer);
}

std::string ConversationKey::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

ConversationKey ConversationHasher::hash(std::string_view kind,
                                         std::span<const std::string_view> parts) const {
  std::vector<std::string> prefixes;
  prefixes.reserve(parts.size());
  std::vector<std::string_view> message = {kind};
  for (const std::string_view part : parts) {
    message.push_back(prefixes.emplace_back(length_prefix(part)));
    message.push_back(part);
  }
  const Digest digest = hmac_sha256(secret_, message);
  ConversationKey key;
  std::memcpy(key.bytes.data(), digest.data(), key.bytes.size());
  return key;
}

ConversationKey ConversationHasher::of_request(std::string_view tenant,
                                               const ChatRequest& request) const {
  std::vector<std::string_view> parts = {tenant, request.model, request.system, request.first_user};
  parts.insert(parts.end(), request.tools.begin(), request.tools.end());
  return hash("request:", parts);
}

ConversationKey ConversationHasher::of_session(std::string_view tenant, std::string_view header,
                                               std::string_view value) const {
  std::string name(header);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::array<std::string_view, 3> parts = {tenant, name, value};
  return hash("session:", parts);
}

ConversationKey ConversationHasher::key(std::string_view tenant, const ChatRequest& request,
                                        const http::Fields& fields,
                                        std::span<const std::string> headers) const {
  for (const std::string& header : headers) {
    const std::string_view value = fields.value_or_empty(header);
    if (!value.empty()) return of_session(tenant, header, value);
  }
  return of_request(tenant, request);
}

}  // namespace layard::gateway

std::size_t std::hash<layard::gateway::ConversationKey>::operator()(
    const layard::gateway::ConversationKey& key) const noexcept {
  std::size_t value = 0;
  std::memcpy(&value, key.bytes.data(), sizeof(value));
  return value;
}
