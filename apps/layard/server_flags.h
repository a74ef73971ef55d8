/// Settings of a server as options of its command.
#pragma once

#include <span>

#include "commands.h"
#include "server/serve_options.h"

namespace layard::cli {

/// Adds an option for each setting; what is given goes into `given`, which must outlive `command`.
void add_settings(CLI::App& command, std::span<const base::SettingInfo> settings,
                  base::GivenSettings& given);

}  // namespace layard::cli
