/// From one request to the prompt rows that will be run, and back from their scores to answers.
///
/// Thread-safety: pure functions over a thread-safe encoder.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "decision/answers.h"
#include "decision/calibration.h"
#include "decision/option_orders.h"
#include "decision/prompt.h"
#include "decision/windows.h"
#include "encoder/rows.h"
#include "layard/answer.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::runtime {

/// Windows of one request at most, and rows where a question has several (windows, orders of its
/// options); more is refused.
inline constexpr std::size_t kWindowsMax = 4096;
inline constexpr std::size_t kWindowRowsMax = 16384;

/// How a request's rows are laid out.
struct Layout {
  OverflowPolicy overflow = OverflowPolicy::kCut;
  int orders = 1;  // as PredictOptions::orders
};

/// What prompts are made with.
struct PromptTools {
  decision::PromptSpec spec;
  const decision::TextEncoder* encoder = nullptr;
  /// Text of token ids, for windows.
  std::function<std::string(std::span<const std::int32_t>)> decode;
};

/// The rows of one request: one pass over all questions, or one a window. Row r of a pass asks
/// question r of asked().
struct PreparedRequest {
  std::vector<std::vector<decision::PromptRow>> passes;
  /// Where several orders of options were asked for, else empty.
  decision::OrderedQuestions ordered;
  /// One a pass when the text is read in windows, else empty.
  std::vector<decision::TokenSpan> spans;
  bool windows = false;
  std::vector<std::string> warnings;

  /// `questions`, the request's own, in the orders that are asked.
  const QuestionSet& asked(const QuestionSet& questions) const {
    return ordered.empty() ? questions : ordered.asked;
  }
  std::size_t longest_row() const;
  bool truncated() const;
};

/// Errors: kInvalidRequest (options that do not fit, overflow, too many windows or rows, orders out
/// of range).
Result<PreparedRequest> prepare(const State& state, const QuestionSet& questions,
                                const Layout& layout, const PromptTools& tools);

/// A view of one prompt row for a backend.
encoder::ModelRow model_row(const decision::PromptRow& row);

/// Answers from the outputs of every row, passes in order, rows in order inside a pass.
/// Errors: kInternal (a number that is not finite).
Result<AnswerSet> finish(const QuestionSet& questions, const PreparedRequest& prepared,
                         std::span<const encoder::RowOutput> outputs,
                         const decision::Calibration& calibration);

}  // namespace layard::runtime
