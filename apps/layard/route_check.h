/// `layard route check`, and what it shares with `layard route explain`.
#pragma once

#include <cstdint>
#include <string_view>

#include "commands.h"

namespace layard::cli {

void add_route_check(CLI::App& route, Run& run);

/// Prints the lines of `text` on stdout, what could steer a terminal shown as `?`.
void print_lines(std::string_view text);

/// By the machine's clock, UTC.
std::int64_t seconds_since_1970();

}  // namespace layard::cli
