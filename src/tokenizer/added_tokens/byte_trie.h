/// Finds the longest of many texts at a place of another text.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace layard::tokenizer {

/// A trie over bytes with a filter on the first two. Filled once, then read by many threads.
/// Source: tokenizers 0.23 (leftmost-longest search of tokenizer/added_vocabulary.rs).
class ByteTrie {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int32_t value = -1;  // -1: nothing found
  };

  ByteTrie();

  /// Adds a text; returns false when it is there already. REQUIRES: not empty, value >= 0.
  bool insert(std::string_view text, std::int32_t value);
  bool empty() const noexcept { return nodes_.size() == 1; }

  /// The leftmost match that begins at or behind `from`, and of those the longest.
  Match find(std::string_view text, std::size_t from) const noexcept;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;  // sorted by byte
    std::int32_t value = -1;
  };

  const Node* child(const Node& node, unsigned char byte) const noexcept;
  Match longest_at(std::string_view text, std::size_t begin) const noexcept;

  std::vector<Node> nodes_;
  std::bitset<256> first_bytes_;
  std::bitset<65536> first_pairs_;  // first | second << 8; all seconds of one-byte texts
};

}  // namespace layard::tokenizer
