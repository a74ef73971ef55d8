#include "server/settings.h"

#include <gtest/gtest.h>

#include <set>

namespace layard::server {
namespace {

TEST(ServeSettings, NamesAndVariablesFollowOneRule) {
  std::set<std::string_view> names;
  for (const Setting& setting : settings()) {
    const base::SettingInfo& info = setting.info;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    std::string variable = "LAYARD_SERVE_" + std::string(info.name);
    for (char& c : variable) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    EXPECT_EQ(info.variable, variable);
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_EQ(info.type_name.empty(), info.kind == base::SettingKind::kSwitch) << info.name;
    EXPECT_EQ(find_setting(info.name), &setting);
  }
  EXPECT_EQ(find_setting("nothing"), nullptr);
  EXPECT_EQ(setting_table().size(), settings().size());
}

// A value that was read is the value that is shown.
TEST(ServeSettings, ReadAndShown) {
  const auto check = [](std::string_view name, const std::string& value, const std::string& shown) {
    ServeOptions options;
    const Setting* setting = find_setting(name);
    ASSERT_NE(setting, nullptr) << name;
    ASSERT_TRUE(setting->set(options, {value}).ok()) << name;
    EXPECT_EQ(base::write_json(setting->get(options), base::JsonStyle::kCompact), shown) << name;
  };
  for (const Setting& setting : settings()) {
    switch (setting.info.kind) {
      case base::SettingKind::kSwitch:
        check(setting.info.name, "true", "true");
        check(setting.info.name, "off", "false");
        break;
      case base::SettingKind::kModels:
        check(setting.info.name, "a", R"(["a"])");
        break;
      case base::SettingKind::kWords: {
        const std::string words(setting.info.type_name);
        const std::string last = words.substr(words.rfind(',') + 1);
        check(setting.info.name, last, "\"" + last + "\"");
        break;
      }
      default:
        if (setting.info.fallback.empty() || setting.info.fallback[0] > '9' ||
            setting.info.name == "host") {
          check(setting.info.name, "a", "\"a\"");
        } else {
          check(setting.info.name, "7", "7");
        }
    }
  }
}

}  // namespace
}  // namespace layard::server
