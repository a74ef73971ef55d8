/// What was most likely meant by a command line that does not parse: one line for stderr behind the
/// error. Reads the parser's own tables; runs nothing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace layard::cli {

/// `hint: ...` with a newline, or empty when no slip is recognised. `arguments`: those of the
/// program, without its name. Values are quoted for a shell, shortened and made printable.
std::string usage_hint(const CLI::App& app, const std::vector<std::string>& arguments);

/// The command whose help tells of what was wrong, from the outermost on; empty: the program's own,
/// which has the options that stand before the command.
std::vector<std::string> help_topic(const CLI::App& app, const CLI::ParseError& error,
                                    const std::vector<std::string>& arguments);

}  // namespace layard::cli
