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
  if (empty()) {
    root_children_.resize(256);
    last_pairs_.resize(65536);
  }
  std::uint32_t at = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    const unsigned char byte = byte_at(text, i);
    auto& children = nodes_[at].children;
    const auto place =
        std::ranges::lower_bound(children, byte, {}, [](auto& p) { return p.first; });
    if (place != children.end() && place->first == byte) {
      at = place->second;
      continue;
    }
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t bytes = nodes_[at].bytes + 1;
    children.insert(place, {byte, added});
    nodes_.emplace_back().bytes = bytes;
    at = added;
  }
  if (nodes_[at].value >= 0) return false;
  nodes_[at].value = value;
  const unsigned last = byte_at(text, text.size() - 1);
  last_bytes_.set(last);
  if (text.size() > 1) {
    last_pairs_[pair_of(byte_at(text, text.size() - 2), last)] = true;
  } else {
    for (unsigned before = 0; before < 256; ++before) last_pairs_[pair_of(before, last)] = true;
  }
  return true;
}

void ByteTrie::finish() {
  // By length, so that the node a link leads to is ready before it is needed.
  std::vector<std::uint32_t> queue{0};
  queue.reserve(nodes_.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t parent = queue[i];
    for (const auto& [byte, at] : nodes_[parent].children) {
      Node& node = nodes_[at];
      if (parent == 0) {
        root_children_[byte] = at;
      } else {
        node.link = step(nodes_[parent].link, byte);
      }
      node.longest = node.value >= 0 ? at : nodes_[node.link].longest;
      queue.push_back(at);
    }
  }
}

std::uint32_t ByteTrie::child(std::uint32_t node, unsigned char byte) const noexcept {
  if (node == 0) return root_children_[byte];
  const auto& children = nodes_[node].children;
  const auto place =
      std::ranges::lower_bound(children, byte, {}, [](const auto& p) { return p.first; });
  return place == children.end() || place->first != byte ? 0 : place->second;
}

std::uint32_t ByteTrie::step(std::uint32_t node, unsigned char byte) const noexcept {
  // Every link is shorter than what was read since the root: all steps together are linear.
  for (;;) {
    const std::uint32_t next = child(node, byte);
    if (next != 0 || node == 0) return next;
    node = nodes_[node].link;
  }
}

bool ByteTrie::ends_nothing(std::string_view text, std::size_t last) const noexcept {
  const unsigned char byte = byte_at(text, last);
  if (!last_bytes_[byte]) return true;
  return last > 0 && !last_pairs_[pair_of(byte_at(text, last - 1), byte)];
}

std::vector<ByteTrie::Match> ByteTrie::find_all(std::string_view text) const {
  std::vector<Match> matches;
  if (empty()) return matches;
  std::uint32_t at = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (at == 0 && ends_nothing(text, i)) continue;
    at = step(at, byte_at(text, i));
    const std::uint32_t longest = nodes_[at].longest;
    if (longest != 0) matches.push_back({i, nodes_[longest].bytes, nodes_[longest].value});
  }
  return matches;
}

}  // namespace layard::tokenizer
