/// Results of prompt rows, kept for the same rows again.
///
/// Exact: a result is found only for the very ids, positions and question type that gave it, on the
/// same weights and number format; two rows are held to be equal when their SHA-256 is.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "encoder/rows.h"

namespace layard::runtime {

/// Names one row on one model: 64 hex digits. `model` names everything a result depends on besides
/// the row: weights, number format, whether near ties are decided again.
std::string row_key(std::string_view model, const encoder::ModelRow& row);

/// The least recently used go first. Thread-safety: all calls may come from any thread.
class AnswerCache {
 public:
  struct Entry {
    encoder::RowOutput output;
    bool rechecked = false;
  };

  /// `bytes_max`: of keys, results and what keeping them takes; 0 keeps nothing.
  explicit AnswerCache(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  bool is_on() const { return bytes_max_ > 0; }
  std::optional<Entry> find(const std::string& key);
  void insert(const std::string& key, Entry entry);
  std::uint64_t bytes() const;

 private:
  using Item = std::pair<std::string, Entry>;
  static std::uint64_t bytes_of(const Item& item);

  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::list<Item> items_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Item>::iterator> index_;  // views of items_' keys
};

}  // namespace layard::runtime
