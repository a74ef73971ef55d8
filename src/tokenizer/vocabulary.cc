#include "tokenizer/vocabulary.h"

#include <algorithm>
#include <cstring>

#include "base/checks.h"
#include "tokenizer/json_fields.h"

namespace layard::tokenizer {
namespace {

__extension__ using Product = unsigned __int128;

// Odd constants with well spread bits (fractions of the golden ratio and of sqrt 3).
constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kFold = 0xBB67AE8584CAA73BU;

std::uint64_t read64(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint64_t read32(const char* from) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace

std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b) noexcept {
  const Product product = Product{a ^ kSeed} * (b ^ kFold);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t hash_text(std::string_view text) noexcept {
  const char* from = text.data();
  const std::size_t bytes = text.size();
  std::uint64_t tail = 0;
  std::uint64_t hash = bytes;
  if (bytes >= 8) {
    for (std::size_t i = 0; i + 8 < bytes; i += 8) hash = mix_hash(hash, read64(from + i));
    tail = read64(from + bytes - 8);
  } else if (bytes >= 4) {
    tail = read32(from) | (read32(from + bytes - 4) << 32U);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) {
      tail = (tail << 8U) | static_cast<unsigned char>(from[i]);
    }
  }
  return mix_hash(hash, tail);
}

std::size_t Vocabulary::probe(std::string_view text, std::uint64_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.entry == 0 || (slot.tag == tag && text_at(slot.entry - 1) == text)) return at;
  }
}

void Vocabulary::grow() {
  slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, Slot());
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
    const std::uint64_t hash = hash_text(text_at(entry));
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].entry != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), entry + 1};
  }
}

void Vocabulary::reserve(std::size_t json_bytes) {
  arena_.reserve(json_bytes / 4);
  entries_.reserve(json_bytes / 64);
}

std::uint32_t Vocabulary::insert(std::string_view text) {
  if ((entries_.size() + 1) * 2 > slots_.size()) grow();
  const std::uint64_t hash = hash_text(text);
  Slot& slot = slots_[probe(text, hash)];
  if (slot.entry != 0) return slot.entry - 1;
  const auto entry = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(
      {static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(text.size()), kNoId});
  arena_.append(text);
  bytes_max_ = std::max(bytes_max_, text.size());
  slot = {static_cast<std::uint32_t>(hash >> 32U), entry + 1};
  return entry;
}

Status Vocabulary::finish() {
  std::int32_t id_max = 0;
  for (const Entry& entry : entries_) id_max = std::max(id_max, entry.id);
  // Bounds the memory that a small file with one huge id can ask for.
  const std::size_t limit = entries_.size() * 16 + (std::size_t{1} << 20U);
  if (static_cast<std::size_t>(id_max) >= limit) {
    return Error{ErrorCode::kUnsupportedModel, "tokenizer.json: model.vocab: id " +
                                                   std::to_string(id_max) + " with only " +
                                                   std::to_string(entries_.size()) +
                                                   " tokens; number the tokens without such gaps"};
  }
  entry_of_id_.assign(static_cast<std::size_t>(id_max) + 1, 0);
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
    LAYARD_CHECK(entries_[entry].id >= 0);
    std::uint32_t& back = entry_of_id_[static_cast<std::size_t>(entries_[entry].id)];
    if (back != 0) {
      return Error{ErrorCode::kUnsupportedModel,
                   "tokenizer.json: model.vocab: two tokens have the id " +
                       std::to_string(entries_[entry].id) + "; give every token its own id"};
    }
    back = entry + 1;
  }
  return {};
}

std::int32_t Vocabulary::find(std::string_view text) const noexcept {
  if (slots_.empty()) return kNoId;
  const Slot& slot = slots_[probe(text, hash_text(text))];
  return slot.entry == 0 ? kNoId : entries_[slot.entry - 1].id;
}

void Vocabulary::find_all(std::span<const std::string_view> texts,
                          std::span<std::int32_t> ids) const noexcept {
  // Each look-up waits for three places in memory; a group of them waits together.
  constexpr std::size_t kGroup = 48;
  if (slots_.empty()) {
    std::ranges::fill(ids, kNoId);
    return;
  }
  std::uint64_t hashes[kGroup];
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t begin = 0; begin < texts.size(); begin += kGroup) {
    const std::size_t count = std::min(kGroup, texts.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = hash_text(texts[begin + i]);
      __builtin_prefetch(&slots_[hashes[i] & mask]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Slot& slot = slots_[hashes[i] & mask];
      if (slot.entry != 0) __builtin_prefetch(&entries_[slot.entry - 1]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Slot& slot = slots_[hashes[i] & mask];
      if (slot.entry != 0) __builtin_prefetch(arena_.data() + entries_[slot.entry - 1].offset);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Slot& slot = slots_[probe(texts[begin + i], hashes[i])];
      ids[begin + i] = slot.entry == 0 ? kNoId : entries_[slot.entry - 1].id;
    }
  }
}

bool Vocabulary::has_id(std::int32_t id) const noexcept {
  return id >= 0 && static_cast<std::size_t>(id) < entry_of_id_.size() &&
         entry_of_id_[static_cast<std::size_t>(id)] != 0;
}

std::string_view Vocabulary::text_of(std::int32_t id) const noexcept {
  return has_id(id) ? text_at(entry_of_id_[static_cast<std::size_t>(id)] - 1) : std::string_view();
}

}  // namespace layard::tokenizer
