#include "tokenizer/id_cache.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace layard::tokenizer {

IdCache::IdCache(int entries_max, std::size_t cost_max)
    : entries_max_(static_cast<std::size_t>(std::clamp(entries_max, 0, kEntriesMax))),
      cost_max_(cost_max) {}

std::optional<std::vector<std::int32_t>> IdCache::find(std::string_view text) {
  if (entries_max_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return std::nullopt;
  used_.splice(used_.begin(), used_, found->second);
  return found->second->ids;
}

void IdCache::insert(std::string_view text, std::span<const std::int32_t> ids) {
  if (entries_max_ == 0) return;
  const std::size_t cost = base::count_code_points(text) + ids.size();
  const bool keep = cost <= std::min(kEntryCostMax, cost_max_);
  // Copied before the lock: it is held for pointers only.
  Entries fresh;
  if (keep) fresh.push_back({std::string(text), {ids.begin(), ids.end()}, cost});
  const std::lock_guard lock(mutex_);
  if (const auto known = by_text_.find(text); known != by_text_.end()) erase(known->second);
  if (!keep) return;
  used_.splice(used_.begin(), fresh);
  by_text_.emplace(used_.front().text, used_.begin());
  cost_ += cost;
  while (used_.size() > entries_max_ || cost_ > cost_max_) erase(std::prev(used_.end()));
}

void IdCache::erase(Entries::iterator entry) {
  cost_ -= entry->cost;
  by_text_.erase(entry->text);
  used_.erase(entry);
}

std::size_t IdCache::entries() const {
  const std::lock_guard lock(mutex_);
  return used_.size();
}

std::size_t IdCache::cost() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace layard::tokenizer
