/// Which two neighbouring symbols merge, how early, and into what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace layard::tokenizer {

/// What a pair merges into. Lower ranks merge first.
struct Merge {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::uint32_t rank = kNone;
  std::uint32_t id = 0;
};

/// One line of "merges" as ids.
struct MergeRule {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t merged;
  std::uint32_t bytes;  // of the merged text
};

/// Open addressing on the packed pair. Filled once, then read by many threads.
/// Source: tokenizers 0.23 (models/bpe/model.rs, MergeMap).
class MergeTable {
 public:
  /// Takes the rules; the number of a rule is its rank, and of two rules for one pair the later
  /// counts.
  void build(const std::vector<MergeRule>& rules);
  /// The merge of a pair; rank kNone when there is none.
  Merge find(std::uint32_t left, std::uint32_t right) const noexcept {
    if (slots_.empty()) return {};
    const std::uint64_t key = pack(left, right);
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.key == key) return slot.merge;
      if (slot.key == kFree) return {};
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // ids stay below 2^31
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge;
  };

  static std::uint64_t pack(std::uint32_t left, std::uint32_t right) noexcept {
    return (std::uint64_t{left} << 32U) | right;
  }
  std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 63;
};

}  // namespace layard::tokenizer
