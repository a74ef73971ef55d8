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
  void rebuild(const std::vector<JsonMember>& members);
  /// Adds members[position]; its key must not be present yet.
  void insert(const std::vector<JsonMember>& members, std::size_t position);
  std::size_t find(const std::vector<JsonMember>& members, std::string_view key) const noexcept;

 private:
  std::vector<std::uint32_t> slots_;  // position + 1, 0 = free; size is a power of two
};

struct JsonValue::Children {
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;
  JsonKeyIndex index;

  std::size_t locate(std::string_view key) const noexcept;
  JsonValue& append(std::string key, JsonValue value);
};

}  // namespace layard::base
