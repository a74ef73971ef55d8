// The one translation from environment variables to the library's options.
#include <charconv>

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

// `20G`, `500M`, `0`, a plain number of bytes.
Result<std::uint64_t> read_bytes(const base::Env& env, const char* name, std::uint64_t fallback) {
  const auto text = env.get_non_empty(name);
  if (!text.has_value()) return fallback;
  const Error bad{ErrorCode::kInvalidRequest,
                  std::string(name) +
                      " must be a number of bytes, which may end in K, M, G or T, got '" +
                      text->substr(0, 40) + "'"};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text->data() + text->size() - end));
  if (error != std::errc() || unit.size() > 1) return bad;
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit[0]) + 1;  // npos + 1 is 0
  if (!unit.empty() && power == 0) return bad;
  for (std::size_t i = 0; i < power; ++i) {
    if (value > UINT64_MAX / 1000) return bad;
    value *= 1000;
  }
  return value;
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

Result<Environment> Environment::from_process() {
  const base::ProcessEnv env;
  const checkpoint::CheckpointOptions options = checkpoint::options_from_env(env);
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
