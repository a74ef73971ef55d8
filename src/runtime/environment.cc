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
  return out;
}

}  // namespace layard
