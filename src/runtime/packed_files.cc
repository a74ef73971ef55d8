#include "runtime/packed_files.h"

#include <map>
#include <string>

#include "kernels/kernels.h"

namespace layard {
namespace {

using backends::cpu::PackedCache;
using backends::cpu::PackedEntry;
using backends::cpu::PackedListing;
using backends::cpu::PackedPruning;
using base::JsonValue;

PackedCache cache_of(const Environment& environment) {
  return PackedCache({environment.cache_dir, environment.cache_bytes_max}, base::discarding_log());
}

// A limit may be beyond what a signed integer holds.
JsonValue number_json(std::uint64_t value) {
  return JsonValue::integer_text(std::to_string(value));
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
  out.set("bytes", number_json(entry.bytes));
  out.set("last_used_s", JsonValue::integer(entry.last_used_ns / 1'000'000'000));
  out.set("weights", field("weights"));
  out.set("isa", field("isa"));
  out.set("type", field("type"));
  out.set("current", JsonValue::boolean(entry.trusted && is_current(key)));
  return out;
}

// `name` only where something was left out: with a folder of very many files.
void set_left_out(JsonValue& out, const char* name, std::uint64_t all, std::size_t shown) {
  if (all > shown) out.set(name, number_json(all - shown));
}

}  // namespace

namespace runtime {

JsonValue to_json(const PackedListing& listing, const Environment& environment) {
  JsonValue files = JsonValue::array();
  for (const PackedEntry& entry : listing.entries) files.push_back(entry_json(entry));
  JsonValue out = JsonValue::object();
  out.set("folder", JsonValue::string(environment.cache_dir + "/packed"));
  out.set("bytes", number_json(listing.bytes));
  out.set("bytes_max", number_json(environment.cache_bytes_max));
  out.set("files", std::move(files));
  set_left_out(out, "files_left_out", listing.files, listing.entries.size());
  return out;
}

JsonValue to_json(const PackedPruning& report) {
  JsonValue names = JsonValue::array();
  for (const std::string& name : report.removed) names.push_back(JsonValue::string(name));
  JsonValue out = JsonValue::object();
  out.set("removed", std::move(names));
  set_left_out(out, "removed_left_out", report.files_removed, report.removed.size());
  out.set("bytes_freed", number_json(report.bytes_freed));
  out.set("bytes_left", number_json(report.bytes_left));
  return out;
}

}  // namespace runtime

Result<std::string> cache_list_json(const Environment& environment) {
  LAYARD_ASSIGN(const PackedListing listing, cache_of(environment).list());
  return write_json(runtime::to_json(listing, environment), base::JsonStyle::kIndent1);
}

Result<std::string> cache_prune_json(const Environment& environment, std::uint64_t bytes_max) {
  LAYARD_ASSIGN(const PackedPruning report, cache_of(environment).prune(bytes_max, {}));
  return write_json(runtime::to_json(report), base::JsonStyle::kIndent1);
}

}  // namespace layard
