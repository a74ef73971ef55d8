#include <cstring>
#include <random>
#include <utility>

#include "base/json_children.h"

namespace layard::base {
namespace {

std::uint64_t process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
  }();
  return seed;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// Eight bytes a step, multiply-fold, with the seed in every step.
std::uint64_t hash_key(std::string_view key) {
  const std::uint64_t seed = process_seed();
  std::uint64_t hash = seed ^ (key.size() * 0x9E3779B97F4A7C15ULL);
  std::size_t i = 0;
  for (; i + 8 <= key.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, key.data() + i, 8);
    hash = mix(hash ^ word, seed | 0xA0761D6478BD642FULL);
  }
  std::uint64_t tail = 0;
  std::memcpy(&tail, key.data() + i, key.size() - i);
  return mix(hash ^ tail, seed | 0xE7037ED1A0B428DBULL);
}

}  // namespace

std::uint32_t JsonKeyIndex::hash(std::string_view key) noexcept {
  return static_cast<std::uint32_t>(hash_key(key));
}

void JsonKeyIndex::rebuild(const std::vector<JsonMember>& members) {
  std::size_t size = 16;
  while (size < members.size() * 2) size *= 2;
  slots_.assign(size, {});
  for (std::size_t i = 0; i < members.size(); ++i) insert(hash(members[i].key), i);
}

void JsonKeyIndex::grow(std::size_t size) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  for (const Slot& slot : old) {
    if (slot.position_plus_one != 0) place(slot);
  }
}

void JsonKeyIndex::place(Slot entry) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = entry.hash & mask;
  while (slots_[at].position_plus_one != 0) at = (at + 1) & mask;
  slots_[at] = entry;
}

void JsonKeyIndex::insert(std::uint32_t hash, std::size_t position) {
  if (slots_.size() < (position + 1) * 2) grow(slots_.size() * 4);
  place({hash, static_cast<std::uint32_t>(position + 1)});
}

std::size_t JsonKeyIndex::find(const std::vector<JsonMember>& members, std::string_view key,
                               std::uint32_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].position_plus_one != 0; at = (at + 1) & mask) {
    const std::size_t position = slots_[at].position_plus_one - 1;
    if (slots_[at].hash == hash && members[position].key == key) return position;
  }
  return kNoMember;
}

}  // namespace layard::base
