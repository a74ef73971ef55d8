#include "tokenizer/model/bpe/merger.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace layard::tokenizer {
namespace {

// Up to here scanning all pairs for each merge beats keeping a heap (bench/tokenizer).
constexpr std::size_t kShortWordSymbols = 32;
constexpr std::uint32_t kEnd = 0xFFFFFFFFU;
constexpr std::uint32_t kRemoved = 0xFFFFFFFEU;

}  // namespace

void Merger::merge_into(const MergeTable& merges, const Seams& seams,
                        std::vector<std::int32_t>& ids) {
  const Symbols all(symbols_);
  std::size_t begin = 0;
  if (all.size() > kShortWordSymbols) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (seams.joins(all[i - 1], all[i])) continue;
      merge_part(merges, all.subspan(begin, i - begin), ids);
      begin = i;
    }
  }
  merge_part(merges, all.subspan(begin), ids);
}

void Merger::merge_part(const MergeTable& merges, Symbols symbols, std::vector<std::int32_t>& ids) {
  const std::size_t count = symbols.size() <= kShortWordSymbols ? merge_short(merges, symbols)
                                                                : merge_long(merges, symbols);
  for (const std::uint32_t id : symbols.first(count)) ids.push_back(static_cast<std::int32_t>(id));
}

std::size_t Merger::merge_short(const MergeTable& merges, Symbols symbols) {
  std::size_t count = symbols.size();
  if (count < 2) return count;
  std::array<Merge, kShortWordSymbols> pairs;  // pairs[i]: merge of symbols i and i + 1
  for (std::size_t i = 0; i + 1 < count; ++i) pairs[i] = merges.find(symbols[i], symbols[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == Merge::kNone) break;
    symbols[best] = pairs[best].id;
    for (std::size_t i = best + 1; i + 1 < count; ++i) symbols[i] = symbols[i + 1];
    for (std::size_t i = best; i + 2 < count; ++i) pairs[i] = pairs[i + 1];
    --count;
    if (best > 0) pairs[best - 1] = merges.find(symbols[best - 1], symbols[best]);
    if (best + 1 < count) pairs[best] = merges.find(symbols[best], symbols[best + 1]);
  }
  return count;
}

std::size_t Merger::merge_long(const MergeTable& merges, Symbols symbols) {
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  links_.resize(count);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    links_[i] = {i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1};
    if (i + 1 == count) break;
    const Merge merge = merges.find(symbols[i], symbols[i + 1]);
    if (merge.rank != Merge::kNone) heap_.push_back({merge.rank, i, merge.id});
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
  const auto push = [&](std::uint32_t position) {
    const std::uint32_t next = links_[position].next;
    const Merge merge = merges.find(symbols[position], symbols[next]);
    if (merge.rank == Merge::kNone) return;
    heap_.push_back({merge.rank, position, merge.id});
    std::push_heap(heap_.begin(), heap_.end(), later);
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Candidate top = heap_.back();
    heap_.pop_back();
    const std::uint32_t at = top.position;
    if (symbols[at] == kRemoved || links_[at].next == kEnd) continue;
    const std::uint32_t right = links_[at].next;
    // The pair may have changed since it was queued.
    const Merge merge = merges.find(symbols[at], symbols[right]);
    if (merge.rank != top.rank || merge.id != top.id) continue;
    symbols[at] = top.id;
    symbols[right] = kRemoved;
    links_[at].next = links_[right].next;
    if (links_[at].next != kEnd) links_[links_[at].next].previous = at;
    if (links_[at].previous != kEnd) push(links_[at].previous);
    if (links_[at].next != kEnd) push(at);
  }
  const auto end = std::remove(symbols.begin(), symbols.end(), kRemoved);
  return static_cast<std::size_t>(end - symbols.begin());
}

}  // namespace layard::tokenizer
