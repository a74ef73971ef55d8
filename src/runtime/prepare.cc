#include "runtime/prepare.h"

#include <algorithm>

#include "base/checks.h"
#include "decision/python_text.h"

namespace layard::runtime {
namespace {

using decision::PromptRow;

Result<PreparedRequest> prepare_windows(const State& state, const QuestionSet& questions,
                                        const PromptTools& tools) {
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
    return Error{ErrorCode::kInvalidRequest,
                 std::to_string(prepared.spans.size()) + " windows of " +
                     std::to_string(questions.questions.size()) + " questions are " +
                     std::to_string(rows_wanted) + " rows, more than " +
                     std::to_string(kWindowRowsMax) + "; ask fewer questions or split the text"};
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

void warn_about_cuts(const QuestionSet& questions, PreparedRequest& prepared) {
  if (prepared.windows) return;
  for (std::size_t i = 0; i < questions.questions.size(); ++i) {
    const decision::PromptStats& stats = prepared.passes[0][i].stats;
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
                                OverflowPolicy overflow, const PromptTools& tools) {
  PreparedRequest prepared;
  if (overflow == OverflowPolicy::kWindows) {
    auto windows = prepare_windows(state, questions, tools);
    if (!windows.ok()) return windows.error();
    prepared = *std::move(windows);
  } else {
    auto rows = decision::build_rows(questions, state, tools.spec, *tools.encoder, overflow);
    if (!rows.ok()) return rows.error();
    prepared.passes.push_back(*std::move(rows));
  }
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
  const std::size_t count = questions.questions.size();
  LAYARD_CHECK(outputs.size() == count * prepared.passes.size());
  std::vector<AnswerSet> sets;
  for (std::size_t pass = 0; pass < prepared.passes.size(); ++pass) {
    std::vector<decision::RowScores> scores;
    for (std::size_t i = 0; i < count; ++i) {
      const encoder::RowOutput& output = outputs[pass * count + i];
      scores.push_back({output.logits, decision::act_softmax(output.act)[0]});
    }
    LAYARD_ASSIGN(AnswerSet set,
                  decision::decode_answers(questions, prepared.passes[pass], scores, calibration));
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
