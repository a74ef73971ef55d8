/// A checkpoint folder in the published layout: where its files are, and what its configs say.
#pragma once

#include <filesystem>
#include <string>

#include "checkpoint/agent_config.h"
#include "checkpoint/safetensors.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// Bytes the text files of a checkpoint may have; tokenizer.json's is in base/file_limits.h.
inline constexpr std::size_t kEncoderConfigBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kTokenizerConfigBytesMax = std::size_t{4} << 20;

/// The files of one checkpoint folder; says nothing about whether they exist.
/// Source: laya 0.4.15 checkpoint layout.
struct CheckpointFiles {
  std::filesystem::path folder;
  std::filesystem::path agent_config;      // rl_agent_config.json
  std::filesystem::path weights;           // model.safetensors
  std::filesystem::path encoder_config;    // encoder/config.json
  std::filesystem::path tokenizer;         // tokenizer/tokenizer.json
  std::filesystem::path tokenizer_config;  // tokenizer/tokenizer_config.json

  static CheckpointFiles in(const std::filesystem::path& folder);

  /// Looks whether the folder and all files are there: cheap, and before anything is read.
  /// Errors: kIo (no such folder, no folder, one that may not be looked into), kUnsupportedModel
  /// naming every file that is missing.
  Status check_present() const;
};

/// An opened checkpoint. Move-only (it owns the mapped weights); immutable, safe to share.
struct CheckpointFolder {
  CheckpointFiles files;
  AgentConfig config;
  /// Raw text of encoder/config.json, for the encoder room.
  std::string encoder_config;
  /// Raw text of tokenizer/tokenizer_config.json, either spelling of upstream's repair; read, never
  /// written.
  std::string tokenizer_config;
  SafetensorsFile weights;

  /// Opens `folder`. Missing files are reported first and together; then the first condition that
  /// fails, in upstream's order: option_layout, missing config keys, groups of weights,
  /// temperature. Names and shapes of single weights are the encoder room's to check;
  /// tokenizer/tokenizer.json is only seen to exist.
  /// Errors: kIo (no such folder, unreadable file), kUnsupportedModel (an incomplete or other kind
  /// of checkpoint), kArtifactIntegrity (malformed file).
  /// Source: laya 0.4.15 load; departs: encoder and tokenizer are never fetched by the config's
  /// `encoder` id, so a folder without them is refused; files that are missing are named at once,
  /// where upstream stops at the first.
  static Result<CheckpointFolder> open(const std::filesystem::path& folder);
};

}  // namespace layard::checkpoint
