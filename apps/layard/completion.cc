#include <iostream>
#include <memory>

#include "commands.h"

namespace layard::cli {
namespace {

std::string long_options(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) names += command->get_name() + " ";
  return names;
}

// Words are read from the parser itself, so the script cannot fall behind it.
std::string bash_script(const CLI::App& app) {
  std::string script =
      "_layard() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" command=\"\" word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$word\" in -*) ;; *) command=\"$word\"; break ;; esac\n"
      "  done\n"
      "  local words=\"\"\n"
      "  case \"$command\" in\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    script += "    " + command->get_name() + ") words=\"" + long_options(*command) + "\" ;;\n";
  }
  script += "    *) words=\"" + command_names(app) + long_options(app) +
            "\" ;;\n"
            "  esac\n"
            "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
            "  case \"$current\" in -*) ;; *) [ -n \"$command\" ] && COMPREPLY+=($(compgen -f -- "
            "\"$current\")) ;; esac\n"
            "}\n"
            "complete -o filenames -F _layard layard\n";
  return script;
}

std::string fish_script(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : app.get_subcommands({})) {
    script += "complete -c layard -n __fish_use_subcommand -a " + command->get_name() + "\n";
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script += "complete -c layard -n '__fish_seen_subcommand_from " + command->get_name() +
                  "' -l " + name + "\n";
      }
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->footer("  source <(layard completion bash)");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &run, shell] {
    run = [&app, shell] {
      if (*shell == "zsh") std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
      std::cout << (*shell == "fish" ? fish_script(app) : bash_script(app));
      return kExitOk;
    };
  });
}

}  // namespace layard::cli
