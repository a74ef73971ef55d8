#include "base/settings.h"

#include <gtest/gtest.h>

#include "support/memory_filesystem.h"

namespace layard::base {
namespace {

using testing::MemoryFilesystem;

void put(MemoryFilesystem& files, const char* path, const std::string& text) {
  ASSERT_TRUE(write_atomically(files, path, text).ok());
}

struct Read {
  std::string name = "default";
  SettingValues models;
  bool on = false;
  Status status;
};

Read read(const GivenSettings& flags, const std::map<std::string, std::string, std::less<>>& env,
          const std::string& file) {
  Read out;
  MemoryFilesystem files;
  if (!file.empty()) put(files, "/c.json", file);
  const FixedEnv variables(env);
  const std::vector<SettingTarget> targets = {
      {{"config", "T_CONFIG", SettingKind::kFile, "", "", ""},
       [](const SettingValues&) { return Status(); }},
      {{"name", "T_NAME", SettingKind::kText, "", "", ""},
       [&](const SettingValues& values) -> Status {
         if (values.back() == "bad") return setting_error("a good name", values.back());
         out.name = values.back();
         return {};
       }},
      {{"models", "T_MODELS", SettingKind::kModels, "", "", ""},
       [&](const SettingValues& values) {
         out.models = values;
         return Status();
       }},
      {{"turn_on", "T_ON", SettingKind::kSwitch, "", "", ""},
       [&](const SettingValues& values) -> Status {
         LAYARD_ASSIGN(out.on, read_switch(values.back()));
         return {};
       }}};
  out.status = read_settings(targets, {flags, &variables, &files}, "layard test");
  return out;
}

TEST(Settings, FlagBeforeVariableBeforeFile) {
  const std::string file = R"({"name": "file", "models": ["a", "b"], "turn_on": true})";
  EXPECT_EQ(read({}, {}, "").name, "default");
  const Read from_file = read({{"config", {"/c.json"}}}, {}, file);
  ASSERT_TRUE(from_file.status.ok()) << from_file.status.error().message;
  EXPECT_EQ(from_file.name, "file");
  EXPECT_EQ(from_file.models, (SettingValues{"a", "b"}));
  EXPECT_TRUE(from_file.on);
  EXPECT_EQ(read({}, {{"T_CONFIG", "/c.json"}, {"T_NAME", "variable"}}, file).name, "variable");
  EXPECT_EQ(
      read({{"name", {"flag"}}}, {{"T_CONFIG", "/c.json"}, {"T_NAME", "variable"}}, file).name,
      "flag");
  EXPECT_EQ(read({}, {{"T_MODELS", " a, b,,"}}, "").models, (SettingValues{"a", "b"}));
}

TEST(Settings, RefusedValuesNameTheirSource) {
  const auto check = [](const Read& found, const std::string& message) {
    ASSERT_FALSE(found.status.ok()) << message;
    EXPECT_EQ(found.status.error().message, message);
  };
  check(read({{"name", {"bad"}}}, {}, ""), "--name: must be a good name, got 'bad'");
  check(read({{"nothing", {"1"}}}, {}, ""), "--nothing: no such option");
  check(read({}, {{"T_ON", "perhaps"}}, ""), "T_ON: must be true or false, got 'perhaps'");
  const GivenSettings config = {{"config", {"/c.json"}}};
  check(read(config, {}, R"({"names": "x"})"),
        "/c.json: names: no such setting; `layard test --help` lists them, written here with _ "
        "for -");
  check(read(config, {}, R"({"config": "x"})"),
        "/c.json: config: no such setting; `layard test --help` lists them, written here with _ "
        "for -");
  check(read(config, {}, R"({"name": ["a", "b"]})"), "/c.json: name: must be one value");
  check(read(config, {}, R"({"models": {"a": 1}})"), "/c.json: models: must be a list of names");
  check(read(config, {}, "[]"), "/c.json: must be an object of settings");
}

TEST(Settings, LongValuesAreCutBetweenCharacters) {
  EXPECT_EQ(setting_error("short", std::string(80, 'a')).message,
            "must be short, got '" + std::string(60, 'a') + "...'");
  std::string wide(59, 'a');
  wide += "\u00e9\u00e9";
  EXPECT_EQ(setting_error("short", wide).message,
            "must be short, got '" + std::string(59, 'a') + "...'");
}

TEST(Settings, WholeNumbers) {
  EXPECT_EQ(*read_whole("7", 1, 10), 7U);
  for (const char* text : {"0", "11", "", "1.5", "-1", "+1", "7 ", "99999999999999999999"}) {
    EXPECT_FALSE(read_whole(text, 1, 10).ok()) << text;
  }
}

TEST(Settings, Keys) {
  MemoryFilesystem files;
  put(files, "/key", "secret-1\r\nmore");
  put(files, "/empty", "\nkey");
  put(files, "/blank", "a key");
  const FixedEnv none{std::map<std::string, std::string, std::less<>>()};
  const FixedEnv given{std::map<std::string, std::string, std::less<>>{{"T_KEY", "from-variable"}}};
  EXPECT_EQ(*read_key({{}, &none, &files}, "T_KEY", ""), "");
  EXPECT_EQ(*read_key({{}, &none, &files}, "T_KEY", "/key"), "secret-1");
  EXPECT_EQ(*read_key({{}, &given, &files}, "T_KEY", "/key"), "from-variable");
  for (const char* path : {"/empty", "/blank", "/absent"}) {
    const auto key = read_key({{}, &none, &files}, "T_KEY", path);
    ASSERT_FALSE(key.ok()) << path;
    EXPECT_NE(key.error().message.find(path), std::string::npos);
    EXPECT_EQ(key.error().message.find("a key\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::base
