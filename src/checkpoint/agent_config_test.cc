#include "checkpoint/agent_config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace layard::checkpoint {
namespace {

const std::string kKeys = R"("encoder":"e/x","head_layers":2)";

AgentConfig parsed(const std::string& text) {
  auto config = AgentConfig::parse(text, "m");
  EXPECT_TRUE(config.ok()) << text << ": " << (config.ok() ? "" : config.error().message);
  return config.ok() ? *std::move(config) : AgentConfig{};
}

void check_error(const std::string& text, ErrorCode code, const std::string& needle) {
  SCOPED_TRACE(text.substr(0, 200));
  const auto config = AgentConfig::parse(text, "m");
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, code);
  EXPECT_NE(config.error().message.find(needle), std::string::npos) << config.error().message;
}

TEST(AgentConfig, Defaults) {
  const AgentConfig config = parsed("{" + kKeys + "}");
  EXPECT_EQ(config.encoder, "e/x");
  EXPECT_EQ(config.head_layers, 2);
  EXPECT_EQ(config.max_len, 512);
  EXPECT_EQ(config.head_max_len, 192);
  EXPECT_EQ(config.act_outputs, 1);
  EXPECT_EQ(config.amp_dtype, "fp16");
  EXPECT_EQ(config.option_layout, OptionLayout::kSequential);
  EXPECT_EQ(base::write_json(config.temperature, base::JsonStyle::kPython), "[1.0, 1.0, 1.0]");
  EXPECT_EQ(config.temperature_by_options.size(), 0U);
}

TEST(AgentConfig, EveryKey) {
  const AgentConfig config = parsed(
      R"({"encoder":"answerdotai/ModernBERT-large","head_layers":0,"max_len":1024,)"
      R"("head_max_len":256,"act_costs":{"escalate":0.5},"amp_dtype":"bf16",)"
      R"("option_layout":"parallel","model_name":"laya-typed-decisions","fine_tuned":true,)"
      R"("temperature":[1.6,"abc",null],"temperature_by_options":{"choice:11+":0.1,"noul:2":2},)"
      R"("max_prefixes":6,"training":{"epochs":3}})");
  EXPECT_EQ(config.head_layers, 0);
  EXPECT_EQ(config.max_len, 1024);
  EXPECT_EQ(config.act_outputs, 2);
  EXPECT_EQ(config.amp_dtype, "bf16");
  EXPECT_EQ(config.option_layout, OptionLayout::kParallel);
  EXPECT_EQ(config.model_name, "laya-typed-decisions");
  EXPECT_EQ(base::write_json(config.temperature, base::JsonStyle::kPython),
            R"([1.6, "abc", null])");
  EXPECT_EQ(config.temperature_by_options.members()[0].key, "choice:11+");
  EXPECT_EQ(config.temperature_by_options.find("choice:11+")->as_double(), 0.1);
}

TEST(AgentConfig, SaysWhereWeightsCameFrom) {
  const auto check = [](const std::string& members, bool random, bool trained) {
    const AgentConfig config = parsed("{" + kKeys + members + "}");
    EXPECT_EQ(config.random_weights, random) << members;
    EXPECT_EQ(config.training_recorded, trained) << members;
  };
  check("", false, false);
  check(R"(,"weights":"random")", true, false);
  check(R"(,"weights":"Random")", false, false);
  check(R"(,"weights":["random"])", false, false);
  check(R"(,"training":{"steps":2481})", false, true);
  check(R"(,"training":{"steps":0})", false, false);
  check(R"(,"training":{"epochs":3})", false, false);
  check(R"(,"training":true)", false, false);
}

// A config Python wrote may hold NaN and Infinity; it loads, and the values stay what they are.
TEST(AgentConfig, PythonConstantsInTemperatures) {
  const AgentConfig config =
      parsed("{" + kKeys +
             R"(,"model_name":"NaN \" Infinity","temperature":[NaN,Infinity,1],)"
             R"("temperature_by_options":{"noul:2":-Infinity,"NaN":1.5}})");
  EXPECT_EQ(config.model_name, "NaN \" Infinity");
  EXPECT_TRUE(std::isnan(config.temperature.items()[0].as_double()));
  EXPECT_EQ(config.temperature.items()[0].text(), "NaN");
  EXPECT_TRUE(std::isinf(config.temperature.items()[1].as_double()));
  EXPECT_LT(config.temperature_by_options.find("noul:2")->as_double(), 0);
  EXPECT_EQ(config.temperature_by_options.find("NaN")->as_double(), 1.5);
}

TEST(AgentConfig, OptionLayoutComesFirst) {
  const std::string text = "option_layout must be one of sequential, parallel, got ";
  check_error(R"({"option_layout":"diagonal"})", ErrorCode::kUnsupportedModel, text + "'diagonal'");
  check_error("{" + kKeys + R"(,"option_layout":7})", ErrorCode::kUnsupportedModel, text + "7");
  check_error("{" + kKeys + R"(,"option_layout":null})", ErrorCode::kUnsupportedModel,
              text + "null");
}

TEST(AgentConfig, MissingKeys) {
  check_error("{}", ErrorCode::kUnsupportedModel,
              "Incompatible model config for 'm': missing configuration keys ['encoder', "
              "'head_layers']");
  check_error(R"({"encoder":"x","temperature":5})", ErrorCode::kUnsupportedModel,
              "missing configuration keys ['head_layers']");
}

TEST(AgentConfig, TemperatureMustBeThree) {
  const std::string text = "Incompatible model: 'm' temperature must be a list of 3 floats, got ";
  check_error("{" + kKeys + R"(,"temperature":[1,2]})", ErrorCode::kUnsupportedModel,
              text + "[1, 2]");
  check_error("{" + kKeys + R"(,"temperature":1.5})", ErrorCode::kUnsupportedModel, text + "1.5");
  check_error("{" + kKeys + R"(,"temperature":null})", ErrorCode::kUnsupportedModel, text + "null");
  check_error("{" + kKeys + R"(,"temperature_by_options":[1]})", ErrorCode::kUnsupportedModel,
              "'temperature_by_options' is [1]");
}

TEST(AgentConfig, ValuesOutOfRange) {
  for (const char* fields :
       {R"("head_layers":-1)", R"("head_layers":65)", R"("head_layers":"2")",
        R"("head_layers":2.0)", R"("head_layers":2,"max_len":7)",
        R"("head_layers":2,"max_len":1048577)", R"("head_layers":2,"head_max_len":0)",
        R"("head_layers":2,"head_max_len":true)",
        R"("head_layers":2,"max_len":99999999999999999999)", R"("head_layers":2,"act_costs":[1])",
        R"("head_layers":2,"amp_dtype":3)"}) {
    const std::string text = R"({"encoder":"x",)" + std::string(fields) + "}";
    check_error(text, ErrorCode::kUnsupportedModel, "Incompatible model config for 'm': '");
  }
}

TEST(AgentConfig, NotAConfig) {
  check_error("", ErrorCode::kArtifactIntegrity, "rl_agent_config.json of 'm'");
  check_error("[]", ErrorCode::kArtifactIntegrity, "not a JSON object");
  check_error("{\"a\":\"\xFF\"}", ErrorCode::kArtifactIntegrity, "rl_agent_config.json of 'm'");
  check_error("{" + kKeys, ErrorCode::kArtifactIntegrity, "not usable");
  check_error(std::string(100, '['), ErrorCode::kArtifactIntegrity, "nested deeper than 64");
  check_error(std::string(kAgentConfigBytesMax + 1, ' '), ErrorCode::kArtifactIntegrity, "bytes");
}

}  // namespace
}  // namespace layard::checkpoint
