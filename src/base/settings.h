/// Settings of a program that runs long: each may come from the command line, the environment or a
/// JSON file, in this order.
///
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/filesystem.h"
#include "base/json.h"
#include "layard/error.h"

namespace layard::base {

/// What a setting takes, for help and completion. kModels and kTexts are lists.
enum class SettingKind : std::uint8_t { kText, kSwitch, kWords, kModel, kModels, kFile, kTexts };

/// One setting: `allow_remote` in the file is `--allow-remote` on the command line.
struct SettingInfo {
  std::string_view name;  // snake case
  std::string_view variable;
  SettingKind kind = SettingKind::kText;
  std::string_view type_name;  // for the help: `N`, `MS`, `SIZE`; of kWords `a,b,c`
  std::string_view fallback;   // as the help shows it
  std::string_view help;
};

/// Whether it takes more than one value.
bool is_list(const SettingInfo& info);

using SettingValues = std::vector<std::string>;

/// What the command line gave: setting -> values (a switch's is `true`).
using GivenSettings = std::map<std::string, SettingValues, std::less<>>;

/// Where settings come from.
struct SettingSources {
  GivenSettings flags;
  const Env* env = nullptr;
  Filesystem* files = nullptr;
};

/// A setting and where its value goes.
struct SettingTarget {
  SettingInfo info;
  /// Errors: kInvalidRequest, without the name of the setting: what is accepted, what was found.
  std::function<Status(const SettingValues&)> set;
};

/// `--allow-remote` of `allow_remote`.
std::string flag_name(std::string_view setting);

/// Sets every target that a source gives. The file is the one that the setting `config` names on
/// the command line or in its variable. `program`: as in `layard serve --help`, for messages.
/// Bounds: a file of 1 MiB. Errors: kInvalidRequest naming the option, variable or member of the
/// file, what was found and what is accepted; kIo.
Status read_settings(std::span<const SettingTarget> targets, const SettingSources& sources,
                     std::string_view program);

/// Values of settings as texts say them. Errors: kInvalidRequest.
Result<bool> read_switch(const std::string& word);
Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most);
/// `must be WHAT, got 'FOUND'`.
Error setting_error(const std::string& what, const std::string& found);

/// The bearer key in `variable`, else in the first line of the file at `path` (may be empty: none).
/// Bounds: 4,096 bytes. Errors: kInvalidRequest when it is not printable ASCII without blanks; kIo.
Result<std::string> read_key(const SettingSources& sources, const std::string& variable,
                             const std::string& path);

}  // namespace layard::base
