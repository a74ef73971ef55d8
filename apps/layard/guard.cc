// The hidden command `__guard`, which the gateway starts for each backend (gateway/guard.h).
#include "gateway/guard.h"

#include "commands.h"

namespace layard::cli {

int guard(const std::vector<std::string>& arguments) {
  const auto options = gateway::read_guard_arguments(arguments);
  if (!options.ok()) return report(options.error());
  const Status done = gateway::run_guard(*options);
  return done.ok() ? kExitOk : report(done.error());
}

}  // namespace layard::cli
