/// `layard evaluate --cascade`: thresholds of a chain of checkpoints, fitted and measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands.h"
#include "labelled.h"
#include "layard/cascade.h"

namespace layard::cli {

struct CascadeFlags {
  std::vector<std::string> chain;
  double risk = 0.05;
  std::uint64_t seed = 1;
  std::string write;  ///< path of the thresholds' file, or empty
  bool model_given = false;
};

/// --cascade, --risk, --seed, --write-cascade.
void add_cascade_flags(CLI::App& command, CascadeFlags& flags);

/// Fits on one half of the lines, measures on the other and writes the file that was asked for.
/// Errors: as evaluate_cascade; those of reading the lines and of writing the file; kInvalidRequest
/// for a MODEL beside the chain.
Result<CascadeEvaluation> measure_cascade(const Globals& globals, const LabelledOptions& labelled,
                                          const CascadeFlags& flags);

}  // namespace layard::cli
