/// What the commands have in common that ask a model labelled questions.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "layard/evaluation.h"

namespace layard::cli {

struct LabelledOptions {
  std::string model = "starter";
  std::string data;
  std::string split;
  std::string device = "auto";
  std::string dtype = "float32";
  bool no_tie_recheck = false;
};

/// `[MODEL]`, --data, --split, --device, --dtype, --no-tie-recheck.
void add_labelled_options(CLI::App& command, LabelledOptions& options);

/// The lines of --data. Errors: as parse_evaluation_cases, beginning with the file; those of
/// reading it.
Result<std::vector<EvaluationCase>> read_labelled(const LabelledOptions& options);

/// The model that is asked.
Result<ModelOptions> labelled_model(const Globals& globals, const LabelledOptions& options);

}  // namespace layard::cli
