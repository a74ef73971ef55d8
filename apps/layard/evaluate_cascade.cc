#include "evaluate_cascade.h"

#include "progress.h"

namespace layard::cli {

void add_cascade_flags(CLI::App& command, CascadeFlags& flags) {
  CLI::Option* cascade =
      command
          .add_option(
              "--cascade", flags.chain,
              "Checkpoints in the place of MODEL, smallest first: fits from which confidence "
              "on each answers on one half of the lines, and measures on the other")
          ->delimiter(',')
          ->type_name("MODEL,MODEL,...");
  command
      .add_option("--risk", flags.risk,
                  "With --cascade: wrong answers among those that a checkpoint gives, 0 to 1")
      ->type_name("FLOAT")
      ->capture_default_str()
      ->needs(cascade);
  command.add_option("--seed", flags.seed, "With --cascade: of the split into halves")
      ->type_name("INT")
      ->capture_default_str()
      ->needs(cascade);
  command
      .add_option("--write-cascade", flags.write,
                  "Write the thresholds, for `layard predict --cascade-file`")
      ->type_name(kFileType)
      ->needs(cascade);
}

Result<CascadeEvaluation> measure_cascade(const Globals& globals, const LabelledOptions& labelled,
                                          const CascadeFlags& flags) {
  if (flags.model_given) {
    return Error{ErrorCode::kInvalidRequest, "--cascade stands in the place of MODEL; put '" +
                                                 labelled.model + "' into the chain or drop it"};
  }
  if (!flags.write.empty()) LAYARD_TRY(check_report_path(flags.write));
  LAYARD_ASSIGN(const auto cases, read_labelled(labelled));
  LAYARD_ASSIGN(const ModelOptions model, labelled_model(globals, labelled));
  CascadeEvaluationOptions options;
  options.risk = flags.risk;
  options.seed = flags.seed;
  options.data = labelled.data + (labelled.split.empty() ? "" : ", split " + labelled.split);
  Progress progress("evaluate");
  LAYARD_ASSIGN(CascadeEvaluation found, evaluate_cascade(model, flags.chain, cases, options,
                                                          [&](std::size_t done, std::size_t total) {
                                                            progress.update(done, total);
                                                          }));
  if (!flags.write.empty()) {
    LAYARD_TRY(write_report(flags.write, print_cascade_plan(found.plan) + "\n"));
  }
  return found;
}

}  // namespace layard::cli
