#include "hints.h"

#include <algorithm>
#include <optional>

#include "layard/words.h"
#include "table.h"

namespace layard::cli {
namespace {

constexpr std::size_t kShownBytes = 60;

// A value of the caller as it may stand in a hint.
std::string shown(const std::string& value) {
  const bool cut = value.size() > kShownBytes;
  return shell_quoted(printable(value.substr(0, kShownBytes)) + (cut ? "..." : ""));
}

// One option on the command line with what belongs to it.
struct Given {
  std::string name;   // `--threads`
  std::string words;  // `--threads 2`, for a shell
  std::size_t next;   // index of the argument behind it
};

class Line {
 public:
  Line(const CLI::App& app, const std::vector<std::string>& arguments)
      : app_(app), arguments_(arguments) {}

  bool wants_program_help() {
    read_before_command();
    return is_about_program();
  }

  std::string hint() {
    read_before_command();
    if (const auto version = version_wanted()) return *version;
    if (command_ == nullptr) {
      const std::string meant = misspelt(app_);
      return meant.empty() ? lonely_option() : meant;
    }
    if (const auto misplaced = misplaced_option()) return *misplaced;
    for (std::size_t i = after_; i < arguments_.size();) {
      const Given given = option_at(i, *command_);
      if (given.name == "--model" && command_->get_option_no_throw("model") != nullptr) {
        return model_as_flag(given);
      }
      if (command_->get_option_no_throw(given.name) == nullptr && takes(app_, given.name)) {
        return "hint: " + given.name + " is a global option; put it before the command: layard " +
               option_at(i, app_).words + " " + command_->get_name() + " ...\n";
      }
      i = given.next;
    }
    const std::string split = unquoted_value();
    return split.empty() ? misspelt(*command_) : split;
  }

 private:
  static bool takes(const CLI::App& app, const std::string& name) {
    return name.starts_with("--") && app.get_option_no_throw(name) != nullptr;
  }

  // The option that begins at `i`, read with the options of `app`.
  Given option_at(std::size_t i, const CLI::App& app) const {
    const std::string& word = arguments_[i];
    const std::size_t equals = word.find('=');
    Given given{word.substr(0, equals), "", i + 1};
    if (!word.starts_with("--")) return {"", "", i + 1};
    given.words = given.name;
    if (equals != std::string::npos) {
      given.words += "=" + shown(word.substr(equals + 1));
      return given;
    }
    const CLI::Option* option = app.get_option_no_throw(given.name);
    int values = option == nullptr ? 0 : option->get_items_expected_max();
    for (; values > 0 && given.next < arguments_.size(); --values, ++given.next) {
      const bool more = given.next > i + 1;
      if (more && arguments_[given.next].starts_with('-')) break;
      given.words += " " + shown(arguments_[given.next]);
    }
    return given;
  }

  const CLI::App* command_named(const std::string& word) const {
    for (const CLI::App* command : app_.get_subcommands({})) {
      if (command->get_name() == word) return command;
    }
    return nullptr;
  }

  // The first command that knows an option of this name.
  const CLI::App* owner_of(const std::string& name) const {
    for (const CLI::App* command : app_.get_subcommands({})) {
      if (takes(*command, name)) return command;
    }
    return nullptr;
  }

  // Finds the command, and in front of it an option that the program itself does not have.
  void read_before_command() {
    for (std::size_t i = 0; i < arguments_.size();) {
      command_ = command_named(arguments_[i]);
      after_ = i + 1;
      if (command_ != nullptr) return;
      const std::string name = option_at(i, app_).name;
      const CLI::App* owner = takes(app_, name) ? nullptr : owner_of(name);
      const Given given = option_at(i, owner == nullptr ? app_ : *owner);
      if (owner != nullptr && !early_) early_ = given;
      i = given.next;
    }
  }

  // Nothing takes these words, and other programs do.
  std::optional<std::string> version_wanted() const {
    for (const std::string& word : app_.remaining(true)) {
      const bool flag = word == "-v" || word == "-V" || word == "-version";
      if (flag || (word == "version" && command_ == nullptr)) {
        return "hint: the version is printed by layard --version\n";
      }
    }
    return std::nullopt;
  }

  // An option of some command, and no command at all.
  std::string lonely_option() const {
    const CLI::App* owner = early_ ? owner_of(early_->name) : nullptr;
    if (owner == nullptr) return "";
    return "hint: " + early_->name + " is an option of " + owner->get_name() +
           "; name the command first: layard " + owner->get_name() + " " + early_->words + " ...\n";
  }

  // Whether a word that nothing takes is, or was meant to be, an option of the program.
  bool is_about_program() const {
    const std::vector<std::string> left = app_.remaining(true);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::string& word = arguments_[i];
      if (!word.starts_with("--") || std::ranges::find(left, word) == left.end()) continue;
      const std::string name = word.substr(0, word.find('='));
      if (takes(app_, name)) return true;
      const bool late = command_ != nullptr && i >= after_;
      if (!late) return owner_of(name) == nullptr;
      return !closest_name(name.substr(2), option_names(*command_)) &&
             closest_name(name.substr(2), option_names(app_));
    }
    return false;
  }

  std::optional<std::string> misplaced_option() const {
    if (!early_) return std::nullopt;
    const std::string name = command_->get_name();
    if (!takes(*command_, early_->name)) {
      return "hint: " + early_->name + " is no option of " + name + "; see layard " + name +
             " --help\n";
    }
    return "hint: " + early_->name + " is an option of " + name + "; put it after: layard " + name +
           " " + early_->words + " ...\n";
  }

  std::string model_as_flag(const Given& given) const {
    std::string value = given.words.substr(given.name.size());
    if (value.empty() && given.next < arguments_.size())
      value = " " + shown(arguments_[given.next]);
    if (value.starts_with('=')) value[0] = ' ';
    return "hint: the model is named without a flag, right behind the command: layard " +
           command_->get_name() + (value.empty() ? " laya" : value) + " ...\n";
  }

  // The first word that nothing takes and that is close to a word of `command`, or to an option of
  // the program.
  std::string misspelt(const CLI::App& command) const {
    const std::vector<std::string> left = app_.remaining(true);
    const CLI::App* deepest = &command;
    while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands()[0];
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::string& word = arguments_[i];
      if (std::ranges::find(left, word) == left.end()) continue;
      if (!word.starts_with('-')) {
        const auto meant = closest_name(word, command_names(*deepest));
        if (meant) return "hint: did you mean " + *meant + "?\n";
        continue;
      }
      const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
      const std::string name = bare.substr(0, bare.find('='));
      if (const auto meant = closest_name(name, option_names(*deepest))) {
        return "hint: did you mean --" + *meant + "?\n";
      }
      if (const auto meant = closest_name(name, option_names(app_))) {
        const bool late = command_ != nullptr && i >= after_;
        return "hint: did you mean --" + *meant +
               (late ? "? It is a global option and stands before the command\n" : "?\n");
      }
    }
    return "";
  }

  static std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    return names;
  }

  static std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      const auto& own = option->get_lnames();
      names.insert(names.end(), own.begin(), own.end());
    }
    return names;
  }

  // Words left over behind a text or JSON: the shell has split it.
  std::string unquoted_value() const {
    if (app_.remaining(true).empty()) return "";
    for (std::size_t i = after_; i < arguments_.size();) {
      const Given given = option_at(i, *command_);
      i = given.next;
      const bool split = i < arguments_.size() && !arguments_[i].starts_with('-');
      if (given.name == "--questions" && split) {
        return "hint: the shell splits JSON that is not quoted: put it in single quotes, "
               "--questions '{...}', or in a file, --questions @FILE\n";
      }
      if ((given.name == "--context" || given.name == "--text") && split) {
        std::string text = arguments_[i - 1];
        for (; i < arguments_.size() && !arguments_[i].starts_with('-'); ++i) {
          text += " " + arguments_[i];
        }
        return "hint: a text with blanks needs quotes: " + given.name + " " + shown(text) + "\n";
      }
    }
    return "";
  }

  const CLI::App& app_;
  const std::vector<std::string>& arguments_;
  const CLI::App* command_ = nullptr;
  std::size_t after_ = 0;
  std::optional<Given> early_;
};

}  // namespace

std::string usage_hint(const CLI::App& app, const std::vector<std::string>& arguments) {
  return Line(app, arguments).hint();
}

std::vector<std::string> help_topic(const CLI::App& app, const CLI::ParseError& error,
                                    const std::vector<std::string>& arguments) {
  const std::string_view text = error.what();
  for (const CLI::Option* option : app.get_options()) {
    // The parser's texts begin with the option, or have it behind a colon.
    const std::string name = option->get_name();
    if (option->count() > 0 &&
        (text.starts_with(name + ":") || text.find(": " + name + " ") != std::string_view::npos)) {
      return {};
    }
  }
  if (Line(app, arguments).wants_program_help()) return {};
  std::vector<std::string> names;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands()[0];
    names.push_back(at->get_name());
  }
  return names;
}

}  // namespace layard::cli
