#include "runtime/answer_cache.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/sha256.h"

namespace layard::runtime {
namespace {

// List node, hash node, bucket and three heap blocks.
constexpr std::uint64_t kEntryOverheadBytes = 256;

void update(base::Sha256& hash, std::span<const std::int32_t> values) {
  // The length keeps neighbouring fields apart.
  const std::array<std::uint64_t, 1> size = {values.size()};
  hash.update(std::as_bytes(std::span(size)));
  hash.update(std::as_bytes(values));
}

}  // namespace

std::string row_key(std::string_view model, const encoder::ModelRow& row) {
  base::Sha256 hash;
  hash.update(model);
  const std::array<std::int32_t, 1> type = {row.type};
  update(hash, type);
  update(hash, row.ids);
  update(hash, row.markers);
  update(hash, row.positions);
  update(hash, row.options);
  return hash.hex();
}

std::uint64_t AnswerCache::bytes_of(const Item& item) {
  const encoder::RowOutput& output = item.second.output;
  return kEntryOverheadBytes + item.first.size() +
         (output.logits.size() + output.act.size()) * sizeof(float);
}

std::optional<AnswerCache::Entry> AnswerCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return std::nullopt;
  items_.splice(items_.begin(), items_, found->second);
  return found->second->second;
}

void AnswerCache::insert(const std::string& key, Entry entry) {
  Item item(key, std::move(entry));
  const std::uint64_t bytes = bytes_of(item);
  if (bytes > bytes_max_) return;
  const std::lock_guard lock(mutex_);
  if (index_.contains(key)) return;
  items_.push_front(std::move(item));
  index_.emplace(items_.front().first, items_.begin());
  bytes_ += bytes;
  while (bytes_ > bytes_max_) {
    bytes_ -= bytes_of(items_.back());
    index_.erase(items_.back().first);
    items_.pop_back();
  }
}

std::uint64_t AnswerCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace layard::runtime
