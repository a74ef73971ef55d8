/// Answers as a table for people.
#pragma once

#include <string>
#include <string_view>

#include "layard/answer.h"

namespace layard::cli {

/// One block a question: the answer, its confidence, and a bar for each option.
std::string answers_table(const AnswerSet& answers);

/// `text` with control characters shown as `?`, so that a terminal cannot be steered by data.
std::string printable(std::string_view text);

}  // namespace layard::cli
