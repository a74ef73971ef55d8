#include <iostream>
#include <memory>
#include <vector>

#include "commands.h"
#include "layard/words.h"

namespace layard::cli {
namespace {

// As `layard COMMAND... --help` prints it.
int print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands({})) {
      names.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      std::string known;
      for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
      known = known.empty() ? "; see " + name + " --help" : "; its commands are " + known;
      if (at == &app && word == "version") known = "; layard --version prints the version";
      return report({ErrorCode::kInvalidRequest, "help: '" + name + "' has no command '" + word +
                                                     "'" + did_you_mean(word, names) + known});
    }
    at = next;
    name += " " + word;
  }
  std::cout << at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal);
  return kExitOk;
}

}  // namespace

void add_help(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("help", "The same as --help, of the program or a command");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words, "Such as predict, or cache prune")
      ->type_name(kCommandType);
  command->callback(
      [&app, &run, words] { run = [&app, words] { return print_help(app, *words); }; });
}

}  // namespace layard::cli
