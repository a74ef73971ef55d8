/// Answers as a table for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "layard/answer.h"

namespace layard::cli {

/// One block a question: the answer, its confidence, and a bar for each option. Labels are
/// shortened so that a bar's line has at most `columns_max` characters (or 47, if that is more); 0:
/// none is.
std::string answers_table(const AnswerSet& answers, std::size_t columns_max);

/// `text` on one line, control characters shown as `?`, so that data cannot steer a terminal.
std::string printable(std::string_view text);

}  // namespace layard::cli
