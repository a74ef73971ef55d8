#include "tokenizer/added_tokens/byte_trie.h"

#include <algorithm>

#include "base/checks.h"

namespace layard::tokenizer {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

std::size_t pair_of(unsigned first, unsigned second) { return first | (second << 8U); }

}  // namespace

ByteTrie::ByteTrie() : nodes_(1) {}

bool ByteTrie::insert(std::string_view text, std::int32_t value) {
  LAYARD_CHECK(!text.empty() && value >= 0);
  std::uint32_t at = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    auto& children = nodes_[at].children;
    const auto place =
        std::ranges::lower_bound(children, byte, {}, [](auto& p) { return p.first; });
    if (place != children.end() && place->first == byte) {
      at = place->second;
      continue;
    }
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    children.insert(place, {byte, added});
    nodes_.emplace_back();
    at = added;
  }
  if (nodes_[at].value >= 0) return false;
  nodes_[at].value = value;
  first_bytes_.set(byte_at(text, 0));
  if (text.size() > 1) {
    first_pairs_.set(pair_of(byte_at(text, 0), byte_at(text, 1)));
  } else {
    for (unsigned second = 0; second < 256; ++second) {
      first_pairs_.set(pair_of(byte_at(text, 0), second));
    }
  }
  return true;
}

const ByteTrie::Node* ByteTrie::child(const Node& node, unsigned char byte) const noexcept {
  const auto place =
      std::ranges::lower_bound(node.children, byte, {}, [](const auto& p) { return p.first; });
  if (place == node.children.end() || place->first != byte) return nullptr;
  return &nodes_[place->second];
}

ByteTrie::Match ByteTrie::longest_at(std::string_view text, std::size_t begin) const noexcept {
  Match match;
  const Node* node = &nodes_[0];
  for (std::size_t i = begin; i < text.size(); ++i) {
    node = child(*node, byte_at(text, i));
    if (node == nullptr) break;
    if (node->value >= 0) match = {begin, i + 1, node->value};
  }
  return match;
}

ByteTrie::Match ByteTrie::find(std::string_view text, std::size_t from) const noexcept {
  if (empty()) return {};
  for (std::size_t i = from; i < text.size(); ++i) {
    const unsigned char first = byte_at(text, i);
    if (!first_bytes_[first]) continue;
    if (i + 1 < text.size() && !first_pairs_[pair_of(first, byte_at(text, i + 1))]) continue;
    const Match match = longest_at(text, i);
    if (match.value >= 0) return match;
  }
  return {};
}

}  // namespace layard::tokenizer
