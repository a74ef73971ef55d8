/// Answers as a table for people.
#pragma once

#include <string>
#include <string_view>

#include "layard/answer.h"

namespace layard::cli {

/// One block a question: the answer, its confidence, and a bar for each option.
std::string answers_table(const AnswerSet& answers);

/// `text` on one line, control characters shown as `?`, so that data cannot steer a terminal.
std::string printable(std::string_view text);

}  // namespace layard::cli
