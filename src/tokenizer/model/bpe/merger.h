/// Applies merge rules to the symbols of one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/model/bpe/merge_table.h"
#include "tokenizer/model/bpe/seams.h"

namespace layard::tokenizer {

/// Working space of one call of encode; reused from word to word.
class Merger {
 public:
  /// Starts a word.
  void clear() { symbols_.clear(); }
  void add(std::uint32_t id) { symbols_.push_back(id); }
  std::size_t size() const { return symbols_.size(); }

  /// Merges until no rule applies - always the pair of lowest rank, of those the leftmost - and
  /// appends the ids that remain. A long word is cut first where `seams` says that no merge joins.
  /// Source: tokenizers 0.23 (models/bpe/word.rs, merge_all).
  void merge_into(const MergeTable& merges, const Seams& seams, std::vector<std::int32_t>& ids);

 private:
  using Symbols = std::span<std::uint32_t>;
  void merge_part(const MergeTable& merges, Symbols symbols, std::vector<std::int32_t>& ids);
  // These two merge in place and return how many symbols remain.
  // Quadratic in symbols, but without a heap: the faster way for words.
  std::size_t merge_short(const MergeTable& merges, Symbols symbols);
  // n log n: for what has no seams and is long.
  std::size_t merge_long(const MergeTable& merges, Symbols symbols);

  struct Candidate {
    std::uint32_t rank;
    std::uint32_t position;
    std::uint32_t id;
  };
  struct Link {
    std::uint32_t previous;
    std::uint32_t next;
  };

  std::vector<std::uint32_t> symbols_;
  std::vector<Candidate> heap_;
  std::vector<Link> links_;
};

}  // namespace layard::tokenizer
