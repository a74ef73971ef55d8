// Any text as rl_agent_config.json: refused with a typed error that names the model, or values
// within their bounds and temperatures that can be printed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/agent_config.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using layard::ErrorCode;
  using layard::checkpoint::AgentConfig;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = AgentConfig::parse(text, "the-model");
  if (!config.ok()) {
    const ErrorCode code = config.error().code;
    require(code == ErrorCode::kArtifactIntegrity || code == ErrorCode::kUnsupportedModel);
    require(!config.error().message.empty());
    return 0;
  }
  require(config->head_layers >= 0 && config->head_layers <= 64);
  require(config->max_len >= 8 && config->head_max_len >= 8);
  require(config->act_outputs >= 1 && config->act_outputs <= 4097);
  require(config->temperature.is_array() && config->temperature.size() == 3);
  require(config->temperature_by_options.is_object());
  using layard::base::JsonStyle;
  require(!write_json(config->temperature, JsonStyle::kPython).empty());
  require(!write_json(config->temperature_by_options, JsonStyle::kPython).empty());
  return 0;
}
