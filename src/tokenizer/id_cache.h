/// Remembers the ids of whole texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace layard::tokenizer {

/// An exact text -> ids cache that drops what was used longest ago. Keys are whole texts: two texts
/// share an entry only if they are equal byte for byte.
/// Bounds: `entries_max` entries, and 4,000,000 as the sum of all entries' costs; an entry costs
/// the code points of its text and its ids. One that costs more than 500,000 is never kept.
/// Thread-safety: any number of threads; hits are copies, so nobody can change an entry.
/// Source: laya-apple 1.7.0 (token cache).
class IdCache {
 public:
  static constexpr int kEntriesMax = 4096;
  static constexpr std::size_t kCostMax = 4'000'000;
  static constexpr std::size_t kEntryCostMax = 500'000;

  /// Fewer than one entry turns the cache off; more than kEntriesMax are kEntriesMax.
  explicit IdCache(int entries_max) : IdCache(entries_max, kCostMax) {}
  /// For tests: another total cost.
  IdCache(int entries_max, std::size_t cost_max);
  IdCache(const IdCache&) = delete;
  IdCache& operator=(const IdCache&) = delete;

  /// A copy of the ids kept for `text`, now the entry used last.
  std::optional<std::vector<std::int32_t>> find(std::string_view text);
  /// Keeps ids for `text`, in place of what was kept before.
  void insert(std::string_view text, std::span<const std::int32_t> ids);

  std::size_t entries() const;
  /// Sum of the entries' costs.
  std::size_t cost() const;

 private:
  struct Entry {
    std::string text;
    std::vector<std::int32_t> ids;
    std::size_t cost;
  };
  using Entries = std::list<Entry>;

  void erase(Entries::iterator entry);

  const std::size_t entries_max_;
  const std::size_t cost_max_;
  mutable std::mutex mutex_;
  Entries used_;                                                     // the one used last first
  std::unordered_map<std::string_view, Entries::iterator> by_text_;  // keys live in the entries
  std::size_t cost_ = 0;
};

}  // namespace layard::tokenizer
