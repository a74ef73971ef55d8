/// What a JSON file of the hub must hold before it is kept, where no hash pins it.
///
/// Thread-safety: pure.
#pragma once

#include <string_view>

#include "layard/error.h"

namespace layard::checkpoint {

/// Checks the text of one of a checkpoint's `.json` files, `path` as in the published layout:
/// rl_agent_config.json as AgentConfig::parse() does; of the others, that they are one object with
/// the names that say what the file is. So a server that answers everything alike is found out
/// here; what the values mean is for the loader. REQUIRES: at most `bytes_max` bytes.
/// Errors: kArtifactIntegrity and those of AgentConfig::parse(), `model` in their text.
Status check_remote_json(std::string_view path, std::string_view text, std::string_view model);

}  // namespace layard::checkpoint
