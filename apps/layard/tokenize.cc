#include <iostream>
#include <memory>

#include "commands.h"
#include "input.h"
#include "layard/tokenizer.h"

namespace layard::cli {
namespace {

struct Options {
  std::string model = "starter";
  std::string text;
  std::string batch;
};

Result<Tokenizer> open_tokenizer(const Globals& globals, const std::string& model) {
  if (model.ends_with(".json")) return Tokenizer::from_file(model);
  LAYARD_ASSIGN(const Environment resolved, environment(globals));
  LAYARD_ASSIGN(const std::string path, tokenizer_path(resolved, globals.offline, model));
  return Tokenizer::from_file(path);
}

Result<std::string> tokenize(const Tokenizer& tokenizer, const std::string& text) {
  LAYARD_ASSIGN(const std::vector<std::int32_t> ids, tokenizer.encode(text));
  return print_tokens(ids, tokenizer.tokens(ids));
}

int run_batch(const Tokenizer& tokenizer, const std::string& path) {
  auto source = Source::open(path);
  if (!source.ok()) return report(source.error());
  LineReader lines(*std::move(source));
  bool failed = false;
  std::uint64_t count = 0;
  std::string line;
  bool too_long = false;
  bool unseen = false;  // printed, and not yet flushed
  CodecOptions codec;
  codec.layout = JsonLayout::kSpaced;
  while (true) {
    const auto next = lines.next(line, too_long, unseen ? 0 : LineReader::kForever);
    if (!next.ok()) return report(next.error());
    if (*next == LineReader::Next::kEnd || !std::cout) break;
    if (*next == LineReader::Next::kPause) {
      std::cout.flush();
      unseen = false;
      continue;
    }
    ++count;
    if (!too_long && line.find_first_not_of(" \t") == std::string::npos) continue;
    const auto text =
        too_long ? Result<std::string>(Error{ErrorCode::kInvalidRequest, "more than 16 MiB"})
                 : parse_text_line(line);
    const auto result = text.ok() ? tokenize(tokenizer, *text) : Result<std::string>(text.error());
    failed = failed || !result.ok();
    std::cout << (result.ok() ? *result : print_error(at_line(count, result.error()), codec))
              << "\n";
    unseen = true;
  }
  return failed ? kExitCheckFailed : kExitOk;
}

int run_tokenize(const Globals& globals, const Options& options, bool text_given) {
  if (text_given == !options.batch.empty()) {
    return report({ErrorCode::kInvalidRequest, "give --text or --batch, one of them"});
  }
  const auto tokenizer = open_tokenizer(globals, options.model);
  if (!tokenizer.ok()) return report(tokenizer.error());
  if (!options.batch.empty()) return run_batch(*tokenizer, options.batch);
  const auto text = read_value("--text", options.text);
  if (!text.ok()) return report(text.error());
  const auto line = tokenize(*tokenizer, *text);
  if (!line.ok()) return report(line.error());
  std::cout << *line << "\n";
  return kExitOk;
}

}  // namespace

void add_tokenize(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Token ids and tokens of a text, as JSON Lines");
  auto options = std::make_shared<Options>();
  command
      ->add_option("model", options->model, "starter, a model name, a folder, or a tokenizer.json")
      ->type_name(kModelOrFileType)
      ->capture_default_str();
  command->add_option("--text", options->text, "The text, @FILE or -")->type_name(kValueType);
  command
      ->add_option("--batch", options->batch,
                   "JSON Lines of {\"text\"}, FILE or -; one result a line, as the input comes")
      ->type_name(kFileType);
  command->callback([&globals, &run, options, command] {
    run = [&globals, options, command] {
      return run_tokenize(globals, *options, command->count("--text") > 0);
    };
  });
}

}  // namespace layard::cli
