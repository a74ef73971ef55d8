// The one translation from environment variables to the library's options.
#include <charconv>

#include "base/byte_count.h"
#include "base/env.h"
#include "base/install_dir.h"
#include "checkpoint/options.h"
#include "layard/model.h"

namespace layard {
namespace {

Result<int> read_count(const base::Env& env, const char* name, int fallback, int most) {
  const auto text = env.get_non_empty(name);
  if (!text.has_value()) return fallback;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0 || value > most) {
    return Error{ErrorCode::kInvalidRequest,
                 std::string(name) + " must be a whole number from 0 to " + std::to_string(most) +
                     ", got '" + text->substr(0, 40) + "'"};
  }
  return value;
}

Result<std::uint64_t> read_bytes(const base::Env& env, const char* name, std::uint64_t fallback) {
  const auto text = env.get_non_empty(name);
  if (!text.has_value()) return fallback;
  auto bytes = base::parse_byte_count(*text);
  if (bytes.ok()) return bytes;
  return Error{bytes.error().code, std::string(name) + ": " + bytes.error().message};
}

// Installed: <prefix>/{bin,lib}/.. beside share/layard; in a build tree the same shape is linked.
std::vector<std::string> find_data_dirs(const base::Env& env) {
  std::vector<std::string> dirs;
  if (const auto named = env.get_non_empty("LAYARD_DATA_DIR")) dirs.push_back(*named);
  const std::filesystem::path here = base::install_dir();
  if (!here.empty()) {
    dirs.push_back((here.parent_path() / "share/layard/models").string());
    // lib/<multiarch>/liblayard.so is one level deeper.
    dirs.push_back((here.parent_path().parent_path() / "share/layard/models").string());
  }
  return dirs;
}

}  // namespace

Result<std::uint64_t> parse_byte_count(std::string_view text) {
  return base::parse_byte_count(text);
}

Result<Environment> Environment::from_process() {
  const base::ProcessEnv env;
  LAYARD_ASSIGN(const checkpoint::CheckpointOptions options, checkpoint::options_from_env(env));
  Environment out;
  out.cache_dir = options.hub.layard_cache.string();
  out.hub_cache_dir = options.hub.hub_cache.string();
  out.hub_endpoint = options.hub.endpoint;
  out.hub_token = options.hub.token;
  out.hub_offline = options.hub.hub_offline;
  out.data_dirs = find_data_dirs(env);
  out.models_file = options.resolve.models_file.string();
  out.force_isa = env.get_non_empty("LAYARD_FORCE_ISA").value_or("");
  LAYARD_ASSIGN(out.threads, read_count(env, "LAYARD_THREADS", 0, 1024));
  LAYARD_ASSIGN(out.token_cache_entries, read_count(env, "LAYARD_TOKEN_CACHE", 4096, 1 << 20));
  LAYARD_ASSIGN(out.cache_bytes_max, read_bytes(env, "LAYARD_CACHE_MAX", out.cache_bytes_max));
  return out;
}

}  // namespace layard
