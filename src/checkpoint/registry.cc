#include "checkpoint/registry.h"

#include <algorithm>

#include "base/file_limits.h"
#include "base/sha256.h"
#include "checkpoint/agent_config.h"
#include "checkpoint/checkpoint_folder.h"

namespace layard::checkpoint {
namespace {

// Weights of a checkpoint that states no size: the published ones have 0.64 to 0.84 GB in float16.
constexpr std::uint64_t kWeightsBytesMax = std::uint64_t{16} << 30;

std::vector<ModelSpec> make_registry() {
  return {
      {.name = "laya",
       .repo = "convaiinnovations/laya",
       .revision = "c5d78730f3493e4fe16d61507ef4b78eef7318cf",
       .encoder = "ModernBERT-large",
       .max_len = 512,
       .aliases = {"english", "en", "default"},
       .dtypes = {"float16", "float32"},
       .npu_buckets = {64, 96, 128},
       .auto_npu_buckets = {64, 96, 128},
       .files = published_files(
           842609210, "891102d372688fc2a094dac56a384bc537b87c63f21f9f3dac0be2b7cbc8d86c")},
      {.name = "laya-multilingual",
       .repo = "convaiinnovations/laya-multilingual",
       .revision = "052592a15d198d9ad47da779604259b10b47b7aa",
       .encoder = "mmBERT-base",
       .max_len = 1024,
       .aliases = {"multilingual", "multi", "ml"},
       .dtypes = {"float16", "float32"},
       .npu_buckets = {64, 96, 128, 256},
       .auto_npu_buckets = {64, 96, 128},
       .files = published_files(
           643835514, "9d628fd971b700382ac6f65920a86f149777b2e748e0c955fb3b19695aa8f204")},
      {.name = "laya-typed-decisions",
       .repo = "convaiinnovations/laya-typed-decisions",
       .revision = "f9ab0b228f0fc0f14d873dbc99038f135c2da1b2",
       .encoder = "ModernBERT-large",
       .max_len = 1024,
       .aliases = {"typed-decisions", "typed", "typed_decisions", "decisions"},
       .dtypes = {"float16", "float32"},
       .npu_buckets = {64, 96, 128},
       .auto_npu_buckets = {64, 96, 128},
       .files = published_files(
           842609220, "4fa56de72383a9d3efa9cfa78955733c81b9fc8067a587ca4beb82c78107a24e")},
  };
}

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, allowed);
}

// `a/b/c` of plain words; a word cannot start with a dot, so `..` is none.
bool is_plain_path(std::string_view path, std::size_t parts_max) {
  for (std::size_t parts = 1; parts <= parts_max; ++parts) {
    const std::size_t slash = path.find('/');
    if (!is_word(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

Error bad_spec(const ModelSpec& spec, const std::string& problem) {
  return {ErrorCode::kUnsupportedModel,
          "model '" + spec.name + "' is not registered properly: " + problem};
}

}  // namespace

std::vector<RemoteFile> published_files(std::optional<std::uint64_t> weights_bytes,
                                        std::string weights_sha256) {
  return {
      {"rl_agent_config.json", kAgentConfigBytesMax, {}, {}},
      {"encoder/config.json", kEncoderConfigBytesMax, {}, {}},
      {"tokenizer/tokenizer_config.json", kTokenizerConfigBytesMax, {}, {}},
      {"tokenizer/tokenizer.json", base::kTokenizerFileBytesMax, {}, {}},
      {"model.safetensors", weights_bytes.value_or(kWeightsBytesMax), weights_bytes,
       std::move(weights_sha256)},
  };
}

std::span<const ModelSpec> registry() {
  static const std::vector<ModelSpec> models = make_registry();
  return models;
}

std::string normalized_name(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  std::string name(text);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

const ModelSpec* find_spec(std::string_view name) {
  const std::string normalized = normalized_name(name);
  for (const ModelSpec& spec : registry()) {
    if (spec.repo == name || spec.name == normalized ||
        std::ranges::find(spec.aliases, normalized) != spec.aliases.end()) {
      return &spec;
    }
  }
  return nullptr;
}

Status check_spec(const ModelSpec& spec) {
  if (!is_plain_path(spec.repo, 2) || spec.repo.find('/') == std::string::npos) {
    return bad_spec(spec, "repository '" + spec.repo + "' is not of the form org/name");
  }
  const bool hex = std::ranges::all_of(
      spec.revision, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (spec.revision.size() != 40 || !hex) {
    return bad_spec(spec, "revision '" + spec.revision + "' is not 40 lower-case hex digits");
  }
  if (spec.files.empty() || spec.files.back().path != "model.safetensors") {
    return bad_spec(spec, "its files do not end with model.safetensors");
  }
  for (const RemoteFile& file : spec.files) {
    if (!is_plain_path(file.path, 4)) {
      return bad_spec(spec, "file '" + file.path + "' is not a plain relative path");
    }
    if (!file.sha256.empty() && !base::is_sha256_hex(file.sha256)) {
      return bad_spec(spec, "hash '" + file.sha256 + "' is not 64 lower-case hex digits");
    }
  }
  return {};
}

std::string known_names() {
  std::string text = "starter";
  for (const ModelSpec& spec : registry()) {
    text += ", " + spec.name + " (" + spec.repo;
    for (const std::string& alias : spec.aliases) text += ", " + alias;
    text += ")";
  }
  return text;
}

}  // namespace layard::checkpoint
