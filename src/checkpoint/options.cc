#include "checkpoint/options.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

// $XDG_CACHE_HOME, else ~/.cache; empty without a home folder.
fs::path user_cache(const base::Env& env) {
  if (const auto xdg = env.get_non_empty("XDG_CACHE_HOME")) return env.expand_home(*xdg);
  const fs::path home = env.home();
  return home.empty() ? fs::path() : home / ".cache";
}

fs::path below(const fs::path& root, const fs::path& rest) {
  return root.empty() ? fs::path() : root / rest;
}

std::string trimmed(std::string text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

fs::path layard_cache_root(const base::Env& env) {
  if (const auto named = env.get_non_empty("LAYARD_CACHE")) return env.expand_home(*named);
  return below(user_cache(env), "layard");
}

fs::path hub_cache_root(const base::Env& env) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto named = env.get_non_empty(name)) return env.expand_home(*named);
  }
  if (const auto home = env.get_non_empty("HF_HOME")) return env.expand_home(*home) / "hub";
  return below(user_cache(env), fs::path("huggingface") / "hub");
}

Result<bool> hub_offline_from_env(const base::Env& env) {
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    const auto value = env.get_non_empty(name);
    if (!value) continue;
    if (base::is_true_value(*value)) return true;
    if (base::is_false_value(*value)) return false;
    return Error{
        ErrorCode::kInvalidRequest,
        std::string(name) +
            " must be 1, ON, YES or TRUE (offline) or 0, OFF, NO or FALSE (online), got '" +
            value->substr(0, 40) + "'"};
  }
  return false;
}

Result<CheckpointOptions> options_from_env(const base::Env& env) {
  CheckpointOptions options;
  if (const auto file = env.get_non_empty("LAYARD_MODELS")) {
    options.resolve.models_file = env.expand_home(*file);
  }
  if (const auto endpoint = env.get_non_empty("HF_ENDPOINT")) {
    options.hub.endpoint = trimmed(*endpoint);
    while (options.hub.endpoint.ends_with('/')) options.hub.endpoint.pop_back();
  }
  if (const auto token = env.get_non_empty("HF_TOKEN")) options.hub.token = trimmed(*token);
  options.hub.hub_cache = hub_cache_root(env);
  options.hub.layard_cache = layard_cache_root(env);
  LAYARD_ASSIGN(options.hub.hub_offline, hub_offline_from_env(env));
  return options;
}

}  // namespace layard::checkpoint
