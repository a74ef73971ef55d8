#include <iostream>
#include <memory>

#include "commands.h"
#include "labelled.h"
#include "progress.h"

namespace layard::cli {
namespace {

struct Options {
  LabelledOptions labelled;
  FitOptions fit;
  std::string output;
};

Result<CalibrationFit> run_fit(const Globals& globals, const Options& options) {
  if (!options.output.empty()) LAYARD_TRY(check_report_path(options.output));
  LAYARD_ASSIGN(const auto cases, read_labelled(options.labelled));
  LAYARD_ASSIGN(const ModelOptions model, labelled_model(globals, options.labelled));
  Progress progress("fit-temperatures");
  return fit_temperatures(model, cases, options.fit, [&](std::size_t done, std::size_t total) {
    progress.update(done, total);
  });
}

// The file, or what would stand in it: then the report is beside it, on standard error.
int run_fit_temperatures(const Globals& globals, const Options& options) {
  const auto fit = run_fit(globals, options);
  if (!fit.ok()) return report(fit.error());
  const bool to_file = !options.output.empty();
  if (to_file) {
    const Status written = write_report(options.output, fit->json + "\n");
    if (!written.ok()) return report(written.error());
  }
  (to_file ? std::cout : std::cerr) << print_fit(*fit);
  if (!to_file) std::cout << fit->json << "\n";
  return kExitOk;
}

}  // namespace

void add_fit_temperatures(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "fit-temperatures", "Fit a model's temperatures on labelled questions: a calibration file");
  command->footer(
      "Examples:\n"
      "  layard fit-temperatures --data cases.jsonl --output calibration.json\n"
      "  layard predict --calibration calibration.json --context ... --questions ...\n\n"
      "The lines are those of layard evaluate. The file is of upstream's version 2 and belongs to\n"
      "the weights it was fitted on.");
  auto options = std::make_shared<Options>();
  add_labelled_options(*command, options->labelled);
  command->add_option("--output", options->output, "The file (default: standard output)")
      ->type_name(kFileType);
  command
      ->add_option("--target-error", options->fit.target_error,
                   "Share of wrong answers above the abstention thresholds")
      ->type_name("FLOAT")
      ->capture_default_str();
  command
      ->add_option("--bucket-floor", options->fit.bucket_floor,
                   "Questions that a bucket needs for a temperature of its own")
      ->capture_default_str();
  command
      ->add_option("--type-floor", options->fit.type_floor,
                   "Questions that a type needs for a temperature")
      ->capture_default_str();
  command->add_flag("--binning-map", options->fit.binning_map,
                    "Also write how often answers of each confidence were right; answer_confidence "
                    "is then that");
  command->callback([&globals, &run, options] {
    run = [&globals, options] { return run_fit_temperatures(globals, *options); };
  });
}

}  // namespace layard::cli
