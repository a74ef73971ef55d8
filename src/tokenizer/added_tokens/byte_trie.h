/// Finds the longest of many texts at every place of another text.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace layard::tokenizer {

/// A trie over the texts read from their ends, with links as in Aho and Corasick's automaton. One
/// pass from the end of a text to its start then knows at every place the longest text that begins
/// there: the time is that of the text, however long the texts to find are and however often they
/// almost match. A filter on the last two bytes makes places that match nothing cheap.
/// Filled and finished once, then read by many threads.
/// Source: tokenizers 0.23 (leftmost-longest search of tokenizer/added_vocabulary.rs); departs: the
/// package's search is quadratic in the worst case.
class ByteTrie {
 public:
  struct Match {
    std::size_t begin = 0;
    std::uint32_t bytes = 0;
    std::int32_t value = -1;

    std::size_t end() const noexcept { return begin + bytes; }
    bool operator==(const Match&) const = default;
  };

  ByteTrie();

  /// Adds a text; returns false when it is there already. REQUIRES: not empty, below 4 GiB,
  /// value >= 0, and finish() not called yet.
  bool insert(std::string_view text, std::int32_t value);
  /// Sets the links. REQUIRES: called once, behind the last insert() and before find_all().
  void finish();
  bool empty() const noexcept { return nodes_.size() == 1; }

  /// The longest match at every place of `text` where one begins, the last place first.
  std::vector<Match> find_all(std::string_view text) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;  // sorted by byte
    std::int32_t value = -1;
    std::uint32_t bytes = 0;    // of the path to here
    std::uint32_t link = 0;     // the node of the longest proper end of the path
    std::uint32_t longest = 0;  // the longest text that the path ends with; 0: none
  };

  /// The child of `node` for `byte`, or 0.
  std::uint32_t child(std::uint32_t node, unsigned char byte) const noexcept;
  std::uint32_t step(std::uint32_t node, unsigned char byte) const noexcept;
  bool ends_nothing(std::string_view text, std::size_t last) const noexcept;

  std::vector<Node> nodes_;
  // Both are empty in an empty trie, and not part of the object, which callers keep on their
  // stacks.
  std::vector<std::uint32_t> root_children_;  // one a byte
  std::vector<bool> last_pairs_;              // last but one | last << 8; all of one-byte texts
  std::bitset<256> last_bytes_;
};

}  // namespace layard::tokenizer
