/// `layard route measure` and `layard route derive`.
#pragma once

#include "commands.h"

namespace layard::cli {

void add_route_measure(CLI::App& route, Run& run);
void add_route_derive(CLI::App& route, Run& run);

}  // namespace layard::cli
