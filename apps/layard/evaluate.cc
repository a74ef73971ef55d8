#include <algorithm>
#include <iostream>
#include <memory>

#include "commands.h"
#include "evaluate_cascade.h"
#include "labelled.h"
#include "progress.h"
#include "table.h"

namespace layard::cli {
namespace {

struct Options {
  LabelledOptions labelled;
  std::string calibration;
  std::string html;
  std::string output;
  std::string format = "text";
  double min_accuracy = 0;
  bool no_order_flips = false;
  CascadeFlags cascade;
};

Status check(const Options& options) {
  if (!(options.min_accuracy >= 0 && options.min_accuracy <= 100)) {
    return Error{ErrorCode::kInvalidRequest, "--min-accuracy must be from 0 to 100"};
  }
  for (const std::string* path : {&options.html, &options.output}) {
    if (!path->empty()) LAYARD_TRY(check_report_path(*path));
  }
  return {};
}

Result<Evaluation> run_evaluation(const Globals& globals, const Options& options) {
  LAYARD_TRY(check(options));
  LAYARD_ASSIGN(const auto cases, read_labelled(options.labelled));
  LAYARD_ASSIGN(ModelOptions model, labelled_model(globals, options.labelled));
  model.calibration_file = options.calibration;
  Progress progress("evaluate");
  return evaluate(model, cases, {.reverse = !options.no_order_flips},
                  [&](std::size_t done, std::size_t total) { progress.update(done, total); });
}

Status write_files(const Options& options, const Evaluation& evaluation) {
  if (!options.output.empty()) {
    LAYARD_TRY(write_report(options.output, evaluation_json(evaluation) + "\n"));
  }
  if (options.html.empty()) return {};
  const std::string split = options.labelled.split;
  const std::string data = options.labelled.data + (split.empty() ? "" : ", split " + split);
  return write_report(options.html, evaluation_html(evaluation, data));
}

// Names of sources come from the file and must not steer a terminal; lines are ours.
std::string printable_lines(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += printable(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

Result<CascadeEvaluation> run_cascade(const Globals& globals, const Options& options) {
  LAYARD_TRY(check(options));
  if (!options.html.empty() || !options.calibration.empty() || options.no_order_flips) {
    return Error{ErrorCode::kInvalidRequest,
                 "--html, --calibration and --no-order-flips are about one checkpoint; drop them "
                 "with --cascade"};
  }
  return measure_cascade(globals, options.labelled, options.cascade);
}

int run_evaluate_cascade(const Globals& globals, const Options& options) {
  const auto found = run_cascade(globals, options);
  if (!found.ok()) return report(found.error());
  std::cout << (options.format == "json" ? cascade_evaluation_json(*found) + "\n"
                                         : printable_lines(print_cascade_evaluation(*found)));
  if (!options.output.empty()) {
    const Status written = write_report(options.output, cascade_evaluation_json(*found) + "\n");
    if (!written.ok()) return report(written.error());
  }
  if (100 * found->fitted.accuracy >= options.min_accuracy) return kExitOk;
  std::cerr << "check failed: accuracy is under --min-accuracy\n";
  return kExitCheckFailed;
}

int run_evaluate(const Globals& globals, const Options& options) {
  const auto found = run_evaluation(globals, options);
  if (!found.ok()) return report(found.error());
  std::cout << (options.format == "json" ? evaluation_json(*found) + "\n"
                                         : printable_lines(print_evaluation(*found)));
  const Status written = write_files(options, *found);
  if (!written.ok()) return report(written.error());
  if (100 * found->all.accuracy >= options.min_accuracy) return kExitOk;
  std::cerr << "check failed: accuracy is under --min-accuracy\n";
  return kExitCheckFailed;
}

}  // namespace

void add_evaluate(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command =
      app.add_subcommand("evaluate",
                         "How good a model's answers are on labelled questions; exit 1 under "
                         "--min-accuracy");
  command->footer(
      "Examples:\n"
      "  layard evaluate --data cases.jsonl\n"
      "  layard evaluate laya --data cases.jsonl --split dev --html report.html\n"
      "  layard evaluate --data cases.jsonl --calibration calibration.json --min-accuracy 80\n"
      "  layard evaluate --data cases.jsonl --cascade starter,laya --write-cascade FILE\n\n"
      "A line is {\"state\": TEXT, \"questions\": {...}, \"expected\": {question: answer}}: the\n"
      "answer is a label (choice), a level's index (score), or true or false (noul).");
  auto options = std::make_shared<Options>();
  add_labelled_options(*command, options->labelled);
  add_calibration_option(*command, options->calibration);
  command->add_option("--html", options->html, "Write the report as one page with plots")
      ->type_name(kFileType);
  command->add_option("--output", options->output, "Write the report as JSON")
      ->type_name(kFileType);
  command->add_option("--format", options->format, "What is printed: text for people, or JSON")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--min-accuracy", options->min_accuracy, "Percent")
      ->type_name("FLOAT")
      ->capture_default_str();
  command->add_flag("--no-order-flips", options->no_order_flips,
                    "Do not ask choices again with their options reversed");
  add_cascade_flags(*command, options->cascade);
  command->callback([&globals, &run, options, command] {
    options->cascade.model_given = command->count("model") > 0;
    run = [&globals, options] {
      return options->cascade.chain.empty() ? run_evaluate(globals, *options)
                                            : run_evaluate_cascade(globals, *options);
    };
  });
}

}  // namespace layard::cli
