/// The names under which files of targets, reports and `probabilities` keep a question's options.
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "layard/question.h"

namespace layard::evaluation {

/// A choice's label, a score's level index, `false` or `true`.
/// REQUIRES: option < question.options.size().
std::string option_name(const Question& question, std::size_t option);

}  // namespace layard::evaluation
