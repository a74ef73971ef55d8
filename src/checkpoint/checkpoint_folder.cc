#include "checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/mapped_file.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
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

Result<std::string> read_tokenizer_config(const CheckpointFiles& files) {
  std::error_code ignored;
  if (!fs::exists(files.tokenizer_config, ignored)) return std::string("{}");
  return base::read_text_file(files.tokenizer_config, kTokenizerConfigBytesMax);
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
  if (!is_folder(folder)) {
    return Error{ErrorCode::kIo, "Local model path not found: '" + name +
                                     "'. Check that the directory exists and that training saved "
                                     "the model successfully."};
  }
  std::string missing;
  for (const fs::path* file : {&agent_config, &weights, &encoder_config, &tokenizer}) {
    if (is_file(*file)) continue;
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
  LAYARD_ASSIGN(std::string tokenizer_config, read_tokenizer_config(files));
  LAYARD_ASSIGN(SafetensorsFile weights, SafetensorsFile::open(files.weights));
  LAYARD_TRY(check_groups(weights, folder));
  LAYARD_TRY(read_temperatures(json, name, config));
  return CheckpointFolder{std::move(files), std::move(config), std::move(encoder_config),
                          std::move(tokenizer_config), std::move(weights)};
}

}  // namespace layard::checkpoint
