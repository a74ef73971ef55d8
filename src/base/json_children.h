/// The inside of arrays and objects; private to base/json_*.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace layard::base {

inline constexpr std::size_t kNoMember = static_cast<std::size_t>(-1);

/// Open-addressing index from key to member position. The hash is seeded per process so that
/// crafted keys cannot pile up in one chain.
class JsonKeyIndex {
 public:
  static std::uint32_t hash(std::string_view key) noexcept;
  void rebuild(const std::vector<JsonMember>& members);
  /// Adds the member at `position` whose key hashes to `hash`; it must not be present yet.
  void insert(std::uint32_t hash, std::size_t position);
  std::size_t find(const std::vector<JsonMember>& members, std::string_view key,
                   std::uint32_t hash) const noexcept;

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint32_t position_plus_one;  // 0: free
  };
  void grow(std::size_t size);
  void place(Slot entry);

  std::vector<Slot> slots_;  // size is a power of two
};

struct JsonValue::Children {
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;
  JsonKeyIndex index;

  std::size_t locate(std::string_view key) const noexcept;
  /// Replaces the value of `key` in place or appends it.
  JsonValue& put(std::string key, JsonValue value);
};

}  // namespace layard::base
