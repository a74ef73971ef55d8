#include "checkpoint/options.h"

#include <gtest/gtest.h>

namespace layard::checkpoint {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

void check_root(const Values& values, const std::string& expected) {
  EXPECT_EQ(layard_cache_root(base::FixedEnv(values)).string(), expected);
}

TEST(CacheRoot, Precedence) {
  check_root({{"LAYARD_CACHE", "/l"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}, "/l");
  check_root({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}, "/x/layard");
  check_root({{"HOME", "/h"}}, "/h/.cache/layard");
  check_root({{"LAYARD_CACHE", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", "/h"}}, "/h/.cache/layard");
  check_root({{"LAYARD_CACHE", "~/mine"}, {"HOME", "/h"}}, "/h/mine");
  check_root({}, "");
}

void check_hub(const Values& values, const std::string& expected) {
  EXPECT_EQ(hub_cache_root(base::FixedEnv(values)).string(), expected);
}

TEST(CacheRoot, HubPrecedence) {
  Values values{{"HF_HUB_CACHE", "/a"},
                {"HUGGINGFACE_HUB_CACHE", "/b"},
                {"HF_HOME", "/c"},
                {"XDG_CACHE_HOME", "/d"},
                {"HOME", "/e"}};
  check_hub(values, "/a");
  values.erase("HF_HUB_CACHE");
  check_hub(values, "/b");
  values.erase("HUGGINGFACE_HUB_CACHE");
  check_hub(values, "/c/hub");
  values.erase("HF_HOME");
  check_hub(values, "/d/huggingface/hub");
  values.erase("XDG_CACHE_HOME");
  check_hub(values, "/e/.cache/huggingface/hub");
  values.erase("HOME");
  check_hub(values, "");
}

void check_offline(const Values& values, bool expected) {
  const auto offline = hub_offline_from_env(base::FixedEnv(values));
  ASSERT_TRUE(offline.ok()) << offline.error().message;
  EXPECT_EQ(*offline, expected) << (values.empty()
                                        ? ""
                                        : values.begin()->first + "=" + values.begin()->second);
}

TEST(Env, HubOfflineTable) {
  check_offline({}, false);
  for (const char* value : {"1", "ON", "YES", "TRUE", "on", "yes", "true", "True"}) {
    check_offline({{"HF_HUB_OFFLINE", value}}, true);
    check_offline({{"TRANSFORMERS_OFFLINE", value}}, true);
    check_offline({{"HF_HUB_OFFLINE", ""}, {"TRANSFORMERS_OFFLINE", value}}, true);
    check_offline({{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", value}}, false);
    check_offline({{"HF_HUB_OFFLINE", "no"}, {"TRANSFORMERS_OFFLINE", value}}, false);
    check_offline({{"HF_HUB_OFFLINE", value}, {"TRANSFORMERS_OFFLINE", "0"}}, true);
  }
  for (const char* value : {"0", "OFF", "NO", "FALSE", "off", "no", "false"}) {
    check_offline({{"HF_HUB_OFFLINE", value}}, false);
    check_offline({{"TRANSFORMERS_OFFLINE", value}}, false);
  }
  check_offline({{"HF_HUB_OFFLINE", "1"}, {"TRANSFORMERS_OFFLINE", "maybe"}}, true);  // not read
}

TEST(Env, HubOfflineIsNotGuessed) {
  for (const std::string name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    for (const char* value : {"2", "y", "t", "n", "enable", "maybe", " 1"}) {
      const auto options = options_from_env(base::FixedEnv({{name, value}}));
      ASSERT_FALSE(options.ok()) << value;
      EXPECT_EQ(options.error().code, ErrorCode::kInvalidRequest);
      EXPECT_TRUE(options.error().message.starts_with(name + " must be ")) << value;
      EXPECT_NE(options.error().message.find("'" + std::string(value) + "'"), std::string::npos);
    }
  }
}

TEST(Options, FromTheEnvironment) {
  const CheckpointOptions none = *options_from_env(base::FixedEnv(Values{{"HOME", "/h"}}));
  EXPECT_EQ(none.hub.endpoint, "https://huggingface.co");
  EXPECT_EQ(none.hub.token, "");
  EXPECT_FALSE(none.hub.offline());
  EXPECT_EQ(none.resolve.models_file, "");
  const CheckpointOptions all =
      *options_from_env(base::FixedEnv({{"HOME", "/h"},
                                        {"HF_ENDPOINT", "http://127.0.0.1:1//"},
                                        {"HF_TOKEN", " hf_x\n"},
                                        {"HF_HUB_OFFLINE", "YES"},
                                        {"LAYARD_MODELS", "~/m.json"}}));
  EXPECT_EQ(all.hub.endpoint, "http://127.0.0.1:1");
  EXPECT_EQ(all.hub.token, "hf_x");
  EXPECT_TRUE(all.hub.hub_offline);
  EXPECT_FALSE(all.hub.local_files_only);
  EXPECT_TRUE(all.hub.offline());
  EXPECT_EQ(all.resolve.models_file, "/h/m.json");
}

}  // namespace
}  // namespace layard::checkpoint
