#include "checkpoint/remote_json.h"

#include <gtest/gtest.h>

#include <string>

#include "support/tiny_checkpoint.h"

namespace layard::checkpoint {
namespace {

constexpr const char* kAgent = "rl_agent_config.json";
constexpr const char* kEncoder = "encoder/config.json";
constexpr const char* kRoles = "tokenizer/tokenizer_config.json";
constexpr const char* kTokenizer = "tokenizer/tokenizer.json";

TEST(RemoteJson, WhatALoaderNeedsIsTaken) {
  const auto check = [](const char* path, const std::string& text) {
    const Status status = check_remote_json(path, text, "m");
    EXPECT_TRUE(status.ok()) << path << ": " << status.error().message;
  };
  check(kAgent, testing::tiny_agent_config({}));
  check(kAgent, R"({"encoder": "x", "head_layers": 1, "temperature": [NaN, 1, 1]})");
  check(kEncoder, testing::tiny_encoder_config({}));
  check(kRoles, testing::tiny_tokenizer_config());
  check(kTokenizer, testing::tiny_tokenizer_json(false));
  check("other.json", "{}");
}

TEST(RemoteJson, WhatSaysNothingIsRefused) {
  const auto check = [](const char* path, const std::string& text, const std::string& part) {
    const Status status = check_remote_json(path, text, "m");
    ASSERT_FALSE(status.ok()) << path << ": " << text;
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  };
  check(kAgent, "{}", "'encoder', 'head_layers'");
  check(kEncoder, "{}", "no \"model_type\"");
  check(kEncoder, R"({"a": {"model_type": "bert"}})", "no \"model_type\"");  // not at the top
  check(kRoles, R"({"cls_token": "[CLS]", "sep_token": "[SEP]"})", "no \"mask_token\"");
  check(kTokenizer, R"({"version": "1.0"})", "no \"model\"");
  check(kTokenizer, R"([{"model": 1}])", "not an object");
  check(kTokenizer, "true", "not an object");
  check("other.json", "{", "JSON");
}

}  // namespace
}  // namespace layard::checkpoint
