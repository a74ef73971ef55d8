// The packed-weights cache as people see it.
#include <map>
#include <string>

#include "backends/cpu/packed_cache.h"
#include "base/json.h"
#include "kernels/kernels.h"
#include "layard/model.h"

namespace layard {
namespace {

using backends::cpu::PackedCache;
using backends::cpu::PackedEntry;
using base::JsonValue;

PackedCache cache_of(const Environment& environment) {
  return PackedCache({environment.cache_dir, environment.cache_bytes_max}, base::discarding_log());
}

JsonValue bytes_json(std::uint64_t bytes) {
  return JsonValue::integer(static_cast<std::int64_t>(bytes));
}

// `name value` lines of a header.
std::map<std::string, std::string> fields(const std::string& key) {
  std::map<std::string, std::string> out;
  for (std::size_t at = 0; at < key.size();) {
    const std::size_t end = std::min(key.find('\n', at), key.size());
    const std::string line = key.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) out[line.substr(0, space)] = line.substr(space + 1);
    at = end + 1;
  }
  return out;
}

bool is_current(const std::map<std::string, std::string>& key) {
  const auto isa = key.find("isa");
  const auto code = key.find("code");
  if (isa == key.end() || code == key.end()) return false;
  const auto known = kernels::parse_isa(isa->second);
  return known.has_value() && kernels::isa_code_hash(*known) == code->second;
}

JsonValue entry_json(const PackedEntry& entry) {
  const auto key = fields(entry.key);
  const auto field = [&](const char* name) {
    const auto found = key.find(name);
    return found == key.end() ? JsonValue::null() : JsonValue::string(found->second);
  };
  JsonValue out = JsonValue::object();
  out.set("file", JsonValue::string(entry.path.filename().string()));
  out.set("bytes", bytes_json(entry.bytes));
  out.set("last_used_s", JsonValue::integer(entry.last_used_ns / 1'000'000'000));
  out.set("weights", field("weights"));
  out.set("isa", field("isa"));
  out.set("type", field("type"));
  out.set("current", JsonValue::boolean(is_current(key)));
  return out;
}

std::uint64_t sum(const std::vector<PackedEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const PackedEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

}  // namespace

Result<std::string> cache_list_json(const Environment& environment) {
  LAYARD_ASSIGN(const std::vector<PackedEntry> entries, cache_of(environment).list());
  JsonValue files = JsonValue::array();
  for (const PackedEntry& entry : entries) files.push_back(entry_json(entry));
  JsonValue out = JsonValue::object();
  out.set("folder", JsonValue::string(environment.cache_dir + "/packed"));
  out.set("bytes", bytes_json(sum(entries)));
  out.set("bytes_max", bytes_json(environment.cache_bytes_max));
  out.set("files", std::move(files));
  return write_json(out, base::JsonStyle::kIndent1);
}

Result<std::string> cache_prune_json(const Environment& environment, std::uint64_t bytes_max) {
  const PackedCache cache = cache_of(environment);
  LAYARD_ASSIGN(const std::vector<PackedEntry> removed, cache.prune(bytes_max, {}));
  LAYARD_ASSIGN(const std::vector<PackedEntry> left, cache.list());
  JsonValue names = JsonValue::array();
  for (const PackedEntry& entry : removed) {
    names.push_back(JsonValue::string(entry.path.filename().string()));
  }
  JsonValue out = JsonValue::object();
  out.set("removed", std::move(names));
  out.set("bytes_freed", bytes_json(sum(removed)));
  out.set("bytes_left", bytes_json(sum(left)));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard
