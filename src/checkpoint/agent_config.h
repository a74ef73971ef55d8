/// rl_agent_config.json: what a checkpoint says about prompts, decision head and calibration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "layard/error.h"

namespace layard::checkpoint {

/// Bytes an rl_agent_config.json may have; real ones have under 2,000.
inline constexpr std::size_t kAgentConfigBytesMax = std::size_t{1} << 20;

enum class OptionLayout : std::uint8_t { kSequential, kParallel };

/// `sequential`, `parallel`.
std::string_view option_layout_name(OptionLayout layout);

/// The checked content of rl_agent_config.json. Keys that inference does not use are ignored.
/// Source: laya 0.4.15 load (keys, defaults, conditions and their order); departs: sizes are
/// bounded, and a value of the wrong kind is named here instead of failing later.
struct AgentConfig {
  /// Name of the encoder the checkpoint was built on; informative (the folder holds the encoder).
  std::string encoder;
  /// Transformer layers of the decision head, 0 to 64; 0 means none.
  std::int64_t head_layers = 0;
  /// Tokens of a whole row and of its question half, 8 to 1,048,576.
  std::int64_t max_len = 512;
  std::int64_t head_max_len = 192;
  /// Outputs of the act head: entries of `act_costs` + 1; at most 4,097.
  std::int64_t act_outputs = 1;
  std::string amp_dtype = "fp16";
  OptionLayout option_layout = OptionLayout::kSequential;
  /// Informative; empty when absent.
  std::string model_name;
  /// `"weights": "random"`: the weights were drawn, not trained, and the answers mean nothing.
  /// Ours; the tools that write such checkpoints set it. Any other value says nothing.
  bool random_weights = false;
  /// `training` is there and counts at least one step: the weights were trained.
  bool training_recorded = false;
  /// Always an array of three values of any kind, as written: choice, score, noul. The decision
  /// room replaces what is not a usable number and says so. Python's NaN, Infinity and -Infinity
  /// are kept as reals of that text.
  base::JsonValue temperature;
  /// Always an object, bucket (`choice:3-5`) to a value of any kind, in file order.
  base::JsonValue temperature_by_options;

  /// Reads the text of a config; `model` is the checkpoint's path or name for messages.
  /// Errors: kArtifactIntegrity (not JSON, not an object, too large), kUnsupportedModel
  /// (option_layout, missing keys, values out of range, temperature not a list of 3).
  static Result<AgentConfig> parse(std::string_view text, std::string_view model);
};

/// The steps of AgentConfig::parse, for a reader that has conditions of its own between them.
/// Text to object; Python's NaN and infinities are kept.
Result<base::JsonValue> parse_agent_json(std::string_view text, std::string_view model);
Result<OptionLayout> read_option_layout(const base::JsonValue& config);
/// Everything but option_layout and temperature.
Result<AgentConfig> read_agent_keys(const base::JsonValue& config, std::string_view model);
/// Fills temperature and temperature_by_options.
Status read_temperatures(const base::JsonValue& config, std::string_view model, AgentConfig& out);

}  // namespace layard::checkpoint
