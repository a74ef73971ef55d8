#include "tokenizer/model/bpe/merge_table.h"

#include <bit>
#include <cstddef>

namespace layard::tokenizer {

void MergeTable::build(const std::vector<MergeRule>& rules) {
  // A look-ahead that hides the wait for memory in a table larger than the caches.
  constexpr std::size_t kAhead = 16;
  // At most three quarters full: a smaller table misses the caches less often.
  const std::size_t slots = std::bit_ceil(rules.size() + rules.size() / 3 + 2);
  slots_.assign(slots, Slot());
  mask_ = slots - 1;
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (i + kAhead < rules.size()) {
      const MergeRule& ahead = rules[i + kAhead];
      __builtin_prefetch(&slots_[home(pack(ahead.left, ahead.right))], 1);
    }
    const std::uint64_t key = pack(rules[i].left, rules[i].right);
    std::size_t at = home(key);
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask_;
    slots_[at] = {key, {static_cast<std::uint32_t>(i), rules[i].merged}};
  }
}

}  // namespace layard::tokenizer
