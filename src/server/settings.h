/// The table behind serve_options.h: how each setting is read and shown.
/// Source: as serve_options.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/settings.h"
#include "server/serve_options.h"

namespace layard::server {

struct Setting {
  base::SettingInfo info;
  /// Errors: kInvalidRequest, without the name of the setting: what is accepted, what was found.
  Status (*set)(ServeOptions& options, const std::vector<std::string>& values) = nullptr;
  base::JsonValue (*get)(const ServeOptions& options) = nullptr;
};

std::span<const Setting> settings();

/// The setting called `name`, or null.
const Setting* find_setting(std::string_view name);

}  // namespace layard::server
