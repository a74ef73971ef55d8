#include "server_flags.h"

#include <string>
#include <vector>

namespace layard::cli {
namespace {

using base::SettingInfo;
using base::SettingKind;

std::string type_name(const SettingInfo& info) {
  switch (info.kind) {
    case SettingKind::kWords:
      return "TEXT:{" + std::string(info.type_name) + "}";
    case SettingKind::kModel:
    case SettingKind::kModels:
      return info.type_name == kModelOrAutoType ? kModelOrAutoType : kModelType;
    case SettingKind::kFile:
      return kFileType;
    default:
      return std::string(info.type_name);
  }
}

void add_setting(CLI::App& command, const SettingInfo& info, base::GivenSettings& given) {
  const std::string name(info.name);
  const std::string flag = base::flag_name(name);
  std::string help(info.help);
  if (!info.fallback.empty()) help += " (default: " + std::string(info.fallback) + ")";
  if (info.kind == SettingKind::kSwitch) {
    command.add_flag_callback(
        flag, [&given, name] { given[name] = {"true"}; }, help);
    return;
  }
  CLI::Option* option = command.add_option_function<std::vector<std::string>>(
      flag, [&given, name](const std::vector<std::string>& values) { given[name] = values; }, help);
  option->type_name(type_name(info));
  if (!is_list(info)) option->expected(1);
}

}  // namespace

void add_settings(CLI::App& command, std::span<const SettingInfo> settings,
                  base::GivenSettings& given) {
  for (const SettingInfo& info : settings) add_setting(command, info, given);
}

}  // namespace layard::cli
