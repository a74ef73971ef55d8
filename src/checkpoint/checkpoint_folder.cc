#include "checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/filesystem.h"
#include "base/mapped_file.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

// What is there, or nothing; an error where that cannot be seen.
Result<std::optional<base::FileKind>> kind_of(const fs::path& path) {
  LAYARD_ASSIGN(const auto info, base::real_filesystem().stat(path));
  return info ? std::optional(info->kind) : std::nullopt;
}

Error unsupported(std::string message) {
  return {ErrorCode::kUnsupportedModel, std::move(message)};
}

// Upstream's first look at the weights: a group that is wholly absent means another kind of model.
Status check_groups(const SafetensorsFile& weights, const fs::path& folder) {
  for (const std::string_view prefix : {"encoder.", "type_emb.", "scorer.", "act_head."}) {
    const bool present = std::ranges::any_of(
        weights.names(), [&](const std::string& name) { return name.starts_with(prefix); });
    if (present) continue;
    return unsupported("Incompatible model weights for '" + folder.string() +
                       "': checkpoint is missing '" + std::string(prefix) +
                       "' parameters. Point to a checkpoint in the published Laya layout.");
  }
  return {};
}

}  // namespace

CheckpointFiles CheckpointFiles::in(const fs::path& folder) {
  return {folder,
          folder / "rl_agent_config.json",
          folder / "model.safetensors",
          folder / "encoder" / "config.json",
          folder / "tokenizer" / "tokenizer.json",
          folder / "tokenizer" / "tokenizer_config.json"};
}

Status CheckpointFiles::check_present() const {
  const std::string name = folder.string();
  LAYARD_ASSIGN(const auto kind, kind_of(folder));
  if (!kind) {
    return Error{ErrorCode::kIo, "Local model path not found: '" + name +
                                     "'. Check that the directory exists and that training saved "
                                     "the model successfully."};
  }
  if (*kind != base::FileKind::kFolder) {
    return Error{ErrorCode::kIo,
                 "'" + name + "' is not a folder; name a folder in the published layout"};
  }
  std::string missing;
  for (const fs::path* file :
       {&agent_config, &weights, &encoder_config, &tokenizer, &tokenizer_config}) {
    LAYARD_ASSIGN(const auto found, kind_of(*file));
    if (found == base::FileKind::kFile) continue;
    missing += (missing.empty() ? "'" : ", '") + file->lexically_relative(folder).string() + "'";
  }
  if (missing.empty()) return {};
  return unsupported("Incompatible model: '" + name + "' does not contain " + missing +
                     ". Point to a folder in the published Laya layout, or copy what is missing "
                     "from the published checkpoint; nothing is fetched into a folder.");
}

Result<CheckpointFolder> CheckpointFolder::open(const fs::path& folder) {
  const std::string name = folder.string();
  CheckpointFiles files = CheckpointFiles::in(folder);
  LAYARD_TRY(files.check_present());
  LAYARD_ASSIGN(const std::string text,
                base::read_text_file(files.agent_config, kAgentConfigBytesMax));
  LAYARD_ASSIGN(const base::JsonValue json, parse_agent_json(text, name));
  LAYARD_ASSIGN(const OptionLayout layout, read_option_layout(json));
  LAYARD_ASSIGN(AgentConfig config, read_agent_keys(json, name));
  config.option_layout = layout;
  LAYARD_ASSIGN(std::string encoder_config,
                base::read_text_file(files.encoder_config, kEncoderConfigBytesMax));
  LAYARD_ASSIGN(std::string tokenizer_config,
                base::read_text_file(files.tokenizer_config, kTokenizerConfigBytesMax));
  LAYARD_ASSIGN(SafetensorsFile weights, SafetensorsFile::open(files.weights));
  LAYARD_TRY(check_groups(weights, folder));
  LAYARD_TRY(read_temperatures(json, name, config));
  return CheckpointFolder{std::move(files), std::move(config), std::move(encoder_config),
                          std::move(tokenizer_config), std::move(weights)};
}

}  // namespace layard::checkpoint
