#include "runtime/prepare.h"

#include <algorithm>

#include "base/checks.h"
#include "decision/python_text.h"

namespace layard::runtime {
namespace {

using decision::PromptRow;

Error too_many_rows(const std::string& what, std::size_t rows) {
  return {ErrorCode::kInvalidRequest, what + " are " + std::to_string(rows) + " rows, more than " +
                                          std::to_string(kWindowRowsMax)};
}

std::string questions_in_orders(const QuestionSet& questions, int orders) {
  return std::to_string(questions.questions.size()) + " questions" +
         (orders == 1 ? "" : " in " + std::to_string(orders) + " orders");
}

// `questions`: as rows ask them; `what` a window holds of them, for a message.
Result<PreparedRequest> prepare_windows(const State& state, const QuestionSet& questions,
                                        const std::string& what, const PromptTools& tools) {
  std::vector<std::size_t> head_tokens;
  for (const Question& question : questions.questions) {
    head_tokens.push_back(
        decision::build_head(question, tools.spec, *tools.encoder).stats.head_tokens);
  }
  LAYARD_ASSIGN(const decision::WindowBudget budget,
                decision::window_budget(head_tokens, tools.spec, {}));
  PreparedRequest prepared;
  prepared.windows = true;
  prepared.warnings = budget.warnings;
  const auto ids = decision::encode_state(state, tools.spec, *tools.encoder);
  if (decision::fits_one_pass(ids.size(), budget)) {
    LAYARD_ASSIGN(auto rows, decision::build_rows(questions, ids, state.keep_end, tools.spec,
                                                  *tools.encoder, OverflowPolicy::kCut));
    prepared.passes.push_back(std::move(rows));
    return prepared;
  }
  prepared.spans = decision::window_spans(ids.size(), budget);
  if (prepared.spans.size() > kWindowsMax) {
    return Error{ErrorCode::kInvalidRequest,
                 "the text needs " + std::to_string(prepared.spans.size()) + " windows of " +
                     std::to_string(budget.window) + " tokens, more than " +
                     std::to_string(kWindowsMax) + "; split it"};
  }
  const std::size_t rows_wanted = prepared.spans.size() * questions.questions.size();
  if (rows_wanted > kWindowRowsMax) {
    Error error =
        too_many_rows(std::to_string(prepared.spans.size()) + " windows of " + what, rows_wanted);
    error.message += "; ask fewer questions or split the text";
    return error;
  }
  for (const decision::TokenSpan& span : prepared.spans) {
    // As upstream: a window goes back to text and is read like any other text.
    const State window{tools.decode(std::span(ids).subspan(span.start, span.end - span.start)),
                       false};
    LAYARD_ASSIGN(auto rows, decision::build_rows(questions, window, tools.spec, *tools.encoder,
                                                  OverflowPolicy::kCut));
    prepared.passes.push_back(std::move(rows));
  }
  return prepared;
}

// Upstream answers such a text too: its row is the question alone.
void warn_about_no_text(const State& state, PreparedRequest& prepared) {
  const bool read = !prepared.spans.empty() || prepared.passes[0].empty() ||
                    prepared.passes[0][0].stats.state_tokens > 0;
  if (read && !decision::python_strip(state.text).empty()) return;
  prepared.warnings.emplace_back("the text is empty: the answers follow from the questions alone");
}

// A question's rows are cut alike in all orders: the first stands for all.
void warn_about_cuts(const QuestionSet& questions, PreparedRequest& prepared) {
  if (prepared.windows) return;
  std::size_t row = 0;
  for (std::size_t i = 0; i < questions.questions.size(); ++i) {
    const decision::PromptStats& stats = prepared.passes[0][row].stats;
    row += prepared.ordered.empty() ? 1 : prepared.ordered.counts[i];
    const std::string name = "question '" + questions.questions[i].id + "': ";
    if (stats.truncated()) {
      prepared.warnings.push_back(name + std::to_string(stats.state_tokens_dropped()) +
                                  " of the text's " + std::to_string(stats.state_tokens) +
                                  " tokens did not fit and were cut");
    }
    if (stats.options_distinct < stats.options) {
      prepared.warnings.push_back(
          name + "only " + std::to_string(stats.options_distinct) + " of its " +
          std::to_string(stats.options) +
          " options still differ after shortening; use fewer or shorter ones");
    }
  }
}

Result<decision::OrderedQuestions> order_questions(const QuestionSet& questions, int orders) {
  if (orders < 1 || orders > kOrdersMax) {
    return Error{ErrorCode::kInvalidRequest, "orders must be from 1 to " +
                                                 std::to_string(kOrdersMax) + ", got " +
                                                 std::to_string(orders)};
  }
  // Bounded before they are made: each is a copy of its question.
  const std::size_t rows_max = questions.questions.size() * static_cast<std::size_t>(orders);
  if (orders > 1 && rows_max > kWindowRowsMax) {
    Error error = too_many_rows(questions_in_orders(questions, orders), rows_max);
    error.message += "; ask fewer questions or fewer orders";
    return error;
  }
  return decision::in_orders(questions, orders);
}

}  // namespace

std::size_t PreparedRequest::longest_row() const {
  std::size_t longest = 0;
  for (const auto& rows : passes) {
    for (const PromptRow& row : rows) longest = std::max(longest, row.ids.size());
  }
  return longest;
}

bool PreparedRequest::truncated() const {
  for (const auto& rows : passes) {
    if (std::any_of(rows.begin(), rows.end(), [](const PromptRow& row) {
          return row.stats.truncated() || row.stats.row_cut;
        })) {
      return true;
    }
  }
  return false;
}

Result<PreparedRequest> prepare(const State& state, const QuestionSet& questions,
                                const Layout& layout, const PromptTools& tools) {
  LAYARD_ASSIGN(decision::OrderedQuestions ordered, order_questions(questions, layout.orders));
  const QuestionSet& asked = ordered.empty() ? questions : ordered.asked;
  PreparedRequest prepared;
  if (layout.overflow == OverflowPolicy::kWindows) {
    auto windows =
        prepare_windows(state, asked, questions_in_orders(questions, layout.orders), tools);
    if (!windows.ok()) return windows.error();
    prepared = *std::move(windows);
  } else {
    auto rows = decision::build_rows(asked, state, tools.spec, *tools.encoder, layout.overflow);
    if (!rows.ok()) return rows.error();
    prepared.passes.push_back(*std::move(rows));
  }
  prepared.ordered = std::move(ordered);
  prepared.warnings.insert(prepared.warnings.end(), questions.warnings.begin(),
                           questions.warnings.end());
  warn_about_no_text(state, prepared);
  warn_about_cuts(questions, prepared);
  return prepared;
}

encoder::ModelRow model_row(const PromptRow& row) {
  return {row.ids, row.markers, static_cast<int>(row.type), row.positions, row.options};
}

Result<AnswerSet> finish(const QuestionSet& questions, const PreparedRequest& prepared,
                         std::span<const encoder::RowOutput> outputs,
                         const decision::Calibration& calibration) {
  const std::size_t count = prepared.asked(questions).questions.size();
  LAYARD_CHECK(outputs.size() == count * prepared.passes.size());
  std::vector<AnswerSet> sets;
  for (std::size_t pass = 0; pass < prepared.passes.size(); ++pass) {
    std::vector<decision::RowScores> scores;
    for (std::size_t i = 0; i < count; ++i) {
      const encoder::RowOutput& output = outputs[pass * count + i];
      scores.push_back({output.logits, decision::act_softmax(output.act)[0]});
    }
    LAYARD_ASSIGN(
        AnswerSet set,
        prepared.ordered.empty()
            ? decision::decode_answers(questions, prepared.passes[pass], scores, calibration)
            : decision::decode_orders(questions, prepared.ordered, prepared.passes[pass], scores,
                                      calibration));
    sets.push_back(std::move(set));
  }
  AnswerSet answers =
      prepared.spans.empty() ? std::move(sets[0]) : decision::merge_windows(sets, prepared.spans);
  if (prepared.windows && prepared.spans.empty()) answers.usage.windows = 1;
  answers.warnings.insert(answers.warnings.end(), prepared.warnings.begin(),
                          prepared.warnings.end());
  return answers;
}

}  // namespace layard::runtime
