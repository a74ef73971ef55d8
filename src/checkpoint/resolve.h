/// What a MODEL argument means: a pinned name, a name put on a folder, the starter, or a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/options.h"
#include "checkpoint/registry.h"
#include "layard/error.h"

namespace layard::checkpoint {

enum class SourceKind : std::uint8_t {
  kRegistry,    // a pinned model of the hub
  kModelsFile,  // a name the models file defines
  kStarter,     // the checkpoint installed with the program
  kFolder,      // a path
};

/// Where a model is to be taken from.
struct ModelSource {
  SourceKind kind = SourceKind::kFolder;
  /// The short name, or the path as given.
  std::string name;
  /// What to find in the hub's cache or fetch; null when `folder` says where the files are.
  std::shared_ptr<const ModelSpec> spec;
  std::filesystem::path folder;
  /// Hash that model.safetensors in `folder` must have; empty when none was stated.
  std::string sha256;
  /// A registry name that the models file points at something other than the pinned weights.
  bool mapped_away_from_pin = false;
};

/// Looks at, in this order: the models file (names and, for registry models, their aliases and
/// repository id), the registry, `starter`, an existing folder that has a separator in its name or
/// holds rl_agent_config.json.
/// Errors: kUnsupportedModel for an unknown name, listing the known ones, and for `auto`; kIo for a
/// path that does not exist, is no folder or may not be looked at; kBackendUnavailable when the
/// starter is not installed; kIo for a models file that cannot be read, kInvalidRequest for one
/// that cannot be used. Touches no network.
Result<ModelSource> resolve_model(std::string_view model, const ResolveOptions& options);

/// Every short name that resolve_model knows: `starter`, the registry's, then those that only the
/// models file has, each once. Errors: those of the models file.
Result<std::vector<std::string>> model_names(const ResolveOptions& options);

}  // namespace layard::checkpoint
