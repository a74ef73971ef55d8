/// Policies made ready to serve, from texts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gateway/gateway_setup.h"
#include "support/memory_filesystem.h"

namespace layard::testing {

using Variables = std::map<std::string, std::string, std::less<>>;

struct SetupParts {
  std::string policy;
  std::vector<std::string> backends = {};
  std::string device = "auto";
  Variables variables = {};
  Variables files = {};  ///< path to text
};

/// What make_setup() gives for a policy at /policy.yaml.
inline Result<gateway::GatewaySetupPtr> read_setup(const SetupParts& parts) {
  MemoryFilesystem files;
  LAYARD_TRY(base::write_atomically(files, "/policy.yaml", parts.policy));
  for (const auto& [path, text] : parts.files) {
    LAYARD_TRY(base::write_atomically(files, path, text));
  }
  const base::FixedEnv env(parts.variables);
  return gateway::make_setup({"/policy.yaml", parts.backends, parts.device, &env, &files});
}

}  // namespace layard::testing
