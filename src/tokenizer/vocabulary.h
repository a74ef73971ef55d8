/// Token texts and their ids, both ways.
/// Source: tokenizers 0.23 (vocab and vocab_r of its models).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::tokenizer {

/// A map text -> id in one arena with open addressing. Filled once, then read by many threads.
class Vocabulary {
 public:
  static constexpr std::int32_t kNoId = -1;

  /// Makes room as a file of `json_bytes` may need; memory that is not used is never touched.
  void reserve(std::size_t json_bytes);

  /// The entry of `text`, added with kNoId when new. Entry numbers count from 0 in order of
  /// first appearance.
  std::uint32_t insert(std::string_view text);
  /// Sets or replaces an entry's id (the last of a repeated text wins).
  void set_id(std::uint32_t entry, std::int32_t id) { entries_[entry].id = id; }

  /// Builds the way back from ids. Call once after the last insert.
  /// Errors: kUnsupportedModel for ids far beyond the number of tokens, or two tokens with one id.
  Status finish();

  /// The id of `text`, or kNoId.
  std::int32_t find(std::string_view text) const noexcept;
  /// find() of many texts, several times faster when the table is larger than the caches.
  /// REQUIRES: ids.size() == texts.size().
  void find_all(std::span<const std::string_view> texts,
                std::span<std::int32_t> ids) const noexcept;
  /// The text of `id`; empty when no token has it. REQUIRES: finish(). Valid while this lives.
  std::string_view text_of(std::int32_t id) const noexcept;
  bool has_id(std::int32_t id) const noexcept;

  std::size_t size() const noexcept { return entries_.size(); }
  /// One past the largest id. REQUIRES: finish().
  std::size_t id_end() const noexcept { return entry_of_id_.size(); }
  std::string_view text_at(std::uint32_t entry) const noexcept {
    return std::string_view(arena_).substr(entries_[entry].offset, entries_[entry].bytes);
  }
  std::int32_t id_at(std::uint32_t entry) const noexcept { return entries_[entry].id; }
  std::size_t bytes_max() const noexcept { return bytes_max_; }

 private:
  struct Entry {
    std::uint32_t offset;
    std::uint32_t bytes;
    std::int32_t id;
  };
  struct Slot {
    std::uint32_t tag = 0;    // upper half of the hash
    std::uint32_t entry = 0;  // number + 1; 0: free
  };

  void grow();
  /// The slot that holds `text`, or the free one where it belongs.
  std::size_t probe(std::string_view text, std::uint64_t hash) const noexcept;

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> entry_of_id_;  // number + 1; 0: none
  std::size_t bytes_max_ = 0;
};

/// A fast 64-bit hash of short texts; equal on every machine of one byte order.
std::uint64_t hash_text(std::string_view text) noexcept;
/// Mixes two words; also for keys that are numbers.
std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace layard::tokenizer
