// Completion. The scripts only pass the words on the line to the hidden command `__complete`, whose
// answers are read from the parser itself, so that no script can fall behind it: options by name,
// their values by their type name (see one_of in commands.h).
#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "commands.h"

namespace layard::cli {
namespace {

// Prints `words`, `folders`, `files` or `@files` (the shell knows files better), then a candidate a
// line.
constexpr const char* kBash = R"(_layard() {
  local current="${COMP_WORDS[COMP_CWORD]}" kind="" line
  [[ $current == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind="$line"; else COMPREPLY+=("$line"); fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local IFS=$'\n'
  case "$kind" in
    folders) COMPREPLY+=($(compgen -d -- "$current")) ;;
    files) COMPREPLY+=($(compgen -f -- "$current")) ;;
    @files) [[ $current == @* ]] && COMPREPLY+=($(compgen -P @ -f -- "${current#@}")) ;;
  esac
}
complete -o filenames -F _layard layard
)";

constexpr const char* kZsh = R"((( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_layard() {
  local -a lines
  lines=("${(@f)$("$words[1]" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local kind="$lines[1]"
  shift lines
  compset -P '--*='
  (( $#lines )) && compadd -- "${(@)lines}"
  case "$kind" in
    folders) _files -/ ;;
    files) _files ;;
    @files) compset -P '@' && _files ;;
  esac
}
compdef _layard layard
)";

constexpr const char* kFish = R"(function __layard_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  set -l lines ($program __complete $words "$current" 2>/dev/null)
  set -l kind $lines[1]
  set -e lines[1]
  set -l start (string match -r -- '^--[^=]*=' "$current")
  for line in $lines
    echo "$start$line"
  end
  set -l rest (string replace -r -- '^--[^=]*=' '' "$current")
  switch "$kind"
    case folders
      printf "$start%s\n" (__fish_complete_directories "$rest" "")
    case files
      printf "$start%s\n" (__fish_complete_path "$rest")
    case '@files'
      if string match -q '@*' -- "$rest"
        printf "$start@%s\n" (__fish_complete_path (string sub -s 2 -- "$rest"))
      end
  end
end
complete -c layard -f -a '(__layard_complete)'
)";

struct Candidates {
  const char* kind = "words";
  std::vector<std::string> words;
};

void add_long_options(const CLI::App& app, std::vector<std::string>& out) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
}

void add_commands(const CLI::App& app, std::vector<std::string>& out) {
  for (const CLI::App* command : app.get_subcommands({})) out.push_back(command->get_name());
}

// What stands behind an option or in the place of a positional.
Candidates values_of(const CLI::Option& option, const std::vector<std::string>& models) {
  Candidates out;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    std::string word;
    for (const char c : type.substr(open + 1, close - open - 1) + ",") {
      if (c != ',') {
        word += c;
      } else {
        out.words.push_back(std::exchange(word, ""));
      }
    }
  } else if (type == kModelType || type == kModelOrAutoType || type == kModelOrFileType ||
             type == kHubModelType) {
    for (const std::string& name : models) {
      if (type != kHubModelType || name != "starter") out.words.push_back(name);
    }
    if (type == kModelOrAutoType || type == kHubModelType) out.words.emplace_back("auto");
    if (type == kModelOrFileType) {
      out.kind = "files";
    } else if (type != kHubModelType) {
      out.kind = "folders";
    }
  } else if (type == kValueType) {
    out.kind = "@files";
  } else if (type.find(kFileType) != std::string::npos) {
    out.kind = "files";
  }
  return out;
}

// Bash breaks a line at `=`: three words that are one.
std::vector<std::string> joined(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "=" || out.empty()) {
      out.push_back(words[i]);
      continue;
    }
    out.back() += "=" + (i + 1 < words.size() ? words[i + 1] : "");
    ++i;
  }
  return out;
}

const CLI::App* command_named(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

// Candidates for the last of `words`, of which those before it are read as the parser would.
Candidates candidates(const CLI::App& root, const std::vector<std::string>& words,
                      const std::vector<std::string>& models) {
  const CLI::App* app = &root;
  const std::string& current = words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      if (const CLI::App* below = command_named(*app, words[i])) app = below;
      continue;
    }
    const CLI::Option* option = app->get_option_no_throw(words[i]);  // none with `=value`
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    if (i + 2 == words.size()) return values_of(*option, models);
    ++i;
  }
  Candidates out;
  if (const std::size_t equals = current.find('=');
      current.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = app->get_option_no_throw(current.substr(0, equals));
    return option == nullptr ? out : values_of(*option, models);
  }
  if (current.starts_with('-')) {
    add_long_options(*app, out.words);
    return out;
  }
  add_commands(*app, out.words);
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional()) continue;
    if (option->get_type_name() == kCommandType) add_commands(root, out.words);
    return out.words.empty() ? values_of(*option, models) : out;
  }
  return out;
}

}  // namespace

int complete(const CLI::App& app, const Globals& globals, const std::vector<std::string>& typed) {
  std::vector<std::string> words = joined(typed);
  if (words.empty()) words.emplace_back();
  std::vector<std::string> models;
  Globals with_file = globals;
  const auto named = std::ranges::find(words, "--models");
  if (words.end() - named > 2) with_file.models_file = *(named + 1);
  const auto resolved = environment(with_file);
  auto names = resolved.ok() ? model_names(*resolved) : Result<std::vector<std::string>>(models);
  // A models file that cannot be used is reported by the commands that need it.
  if (names.ok()) models = *std::move(names);
  const Candidates found = candidates(app, words, models);
  const std::string& current = words.back();
  const std::size_t equals = current.starts_with("--") ? current.find('=') : std::string::npos;
  const std::string start = equals == std::string::npos ? current : current.substr(equals + 1);
  std::cout << found.kind << "\n";
  for (const std::string& word : found.words) {
    if (word.starts_with(start)) std::cout << word << "\n";
  }
  return kExitOk;
}

void add_completion(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->footer(
      "  source <(layard completion bash)         in ~/.bashrc\n"
      "  source <(layard completion zsh)          in ~/.zshrc\n"
      "  layard completion fish | source          in ~/.config/fish/config.fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&run, shell] {
    run = [shell] {
      std::cout << (*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish);
      return kExitOk;
    };
  });
}

}  // namespace layard::cli
