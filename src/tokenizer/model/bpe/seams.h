/// Where a text can be cut without changing what byte-pair encoding makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/model/bpe/merge_table.h"

namespace layard::tokenizer {

/// The pairs of neighbouring initial symbols that some token holds. A merge across the place
/// between x and y joins a symbol that ends with x to one that begins with y; if no merge rule
/// does, what is left and right of it merges independently.
/// Source: none; merging with and without it gives the ids of tokenizers 0.23.
class Seams {
 public:
  /// Collects the pairs of all rules that can ever apply. `initial[id]`: whether encoding may begin
  /// with the symbol. When some symbol can be made in ways that begin or end differently, every
  /// pair counts as joined.
  /// REQUIRES: all ids below initial.size(); a rule's parts are shorter than what they merge into.
  void build(const std::vector<MergeRule>& rules, const std::vector<bool>& initial);

  /// Whether a merge may reach across the place between `left` and `right`.
  bool joins(std::uint32_t left, std::uint32_t right) const noexcept {
    if (slots_.empty()) return true;
    const std::uint64_t key = pack(left, right);
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      if (slots_[at] == key) return true;
      if (slots_[at] == kFree) return false;
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // ids stay below 2^31

  static std::uint64_t pack(std::uint32_t left, std::uint32_t right) noexcept {
    return (std::uint64_t{left} << 32U) | right;
  }
  std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }
  void insert(std::uint64_t key);
  void resize(std::size_t slots);

  std::vector<std::uint64_t> slots_;  // open addressing; empty: every pair joins
  std::size_t used_ = 0;
  std::size_t mask_ = 0;
  unsigned shift_ = 63;
};

}  // namespace layard::tokenizer
