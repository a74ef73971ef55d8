#include "decision/windows.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/checks.h"

namespace layard::decision {
namespace {

std::size_t default_window(const PromptSpec& spec) {
  const std::int64_t left = std::int64_t{spec.max_len} - spec.head_max_len - 8;
  return static_cast<std::size_t>(std::max<std::int64_t>(64, left));
}

std::string number(std::size_t value) { return std::to_string(value); }

// Narrows the window to the room and says so where it costs the caller something.
void clamp_window(std::size_t wanted, const PromptSpec& spec, WindowBudget& budget) {
  budget.window = std::min(wanted, budget.room);
  if (budget.window == wanted) return;
  const std::string fits =
      "the " + number(budget.room) +
      " state tokens these questions leave in max_len=" + std::to_string(spec.max_len);
  if (budget.requested) {
    budget.warnings.push_back("window=" + number(wanted) + " is wider than " + fits +
                              "; scanning with window=" + number(budget.room));
  } else if (wanted >= 2 * budget.room) {
    budget.warnings.push_back("the scan window was narrowed from " + number(wanted) + " to " +
                              fits +
                              ", so many more windows are needed; use fewer or shorter "
                              "options, or a larger max_len");
  }
}

Status choose_stride(std::size_t wanted_window, std::size_t stride, WindowBudget& budget) {
  const std::size_t half = std::max<std::size_t>(1, budget.window / 2);
  budget.stride = stride > 0 ? stride : half;
  if (budget.stride <= budget.window) return {};
  if (budget.window < wanted_window && stride <= wanted_window) {
    budget.warnings.push_back("stride=" + number(stride) + " is wider than the narrowed window=" +
                              number(budget.window) + "; scanning with stride=" + number(half));
    budget.stride = half;
    return {};
  }
  return Error{
      ErrorCode::kInvalidRequest,
      "predict_long: stride=" + number(stride) + " steps past the " + number(budget.window) +
          "-token window" +
          (budget.window < wanted_window ? " these questions leave room for" : "") + ", so " +
          number(stride - budget.window) +
          " tokens between every pair of windows would be read by no window at all; pass stride "
          "<= " +
          number(budget.window)};
}

// What decides between windows.
double strength(const Answer& answer) {
  if (const auto* noul = std::get_if<NoulAnswer>(&answer.value)) return noul->noul;
  if (const auto* score = std::get_if<ScoreAnswer>(&answer.value)) return score->answer_confidence;
  return std::get<ChoiceAnswer>(answer.value).answer_confidence;
}

// Counts add up, per-question records merge (a later window replaces), lists are the last
// window's.
Usage sum_usage(std::span<const AnswerSet> sets) {
  Usage total;
  total.ran = true;
  for (const AnswerSet& set : sets) {
    total.input_tokens += set.usage.input_tokens;
    total.state_tokens += set.usage.state_tokens;
    total.state_tokens_dropped += set.usage.state_tokens_dropped;
    total.truncated += set.usage.truncated;
    total.truncated_questions = set.usage.truncated_questions;
    for (const CollapsedOptions& options : set.usage.options) {
      const auto same = std::find_if(
          total.options.begin(), total.options.end(),
          [&options](const CollapsedOptions& o) { return o.question == options.question; });
      if (same == total.options.end()) {
        total.options.push_back(options);
      } else {
        *same = options;
      }
    }
  }
  total.summed = true;
  total.windows = static_cast<std::int64_t>(sets.size());
  return total;
}

}  // namespace

Result<WindowBudget> window_budget(std::span<const std::size_t> head_tokens, const PromptSpec& spec,
                                   const WindowRequest& request) {
  const std::size_t wanted = request.window > 0 ? request.window : default_window(spec);
  WindowBudget budget;
  budget.requested = request.window > 0;
  budget.room = wanted;
  if (!head_tokens.empty()) {
    budget.room = state_room(*std::max_element(head_tokens.begin(), head_tokens.end()), spec);
  }
  if (budget.room == 0) {
    return Error{ErrorCode::kInvalidRequest,
                 "predict_long: the questions' options fill the whole sequence (max_len=" +
                     std::to_string(spec.max_len) +
                     ", head_max_len=" + std::to_string(spec.head_max_len) +
                     "), leaving no room for the state; no window can carry any of it. Use fewer "
                     "or shorter options, or a larger max_len"};
  }
  clamp_window(wanted, spec, budget);
  LAYARD_TRY(choose_stride(wanted, request.stride, budget));
  return budget;
}

bool fits_one_pass(std::size_t state_tokens, const WindowBudget& budget) {
  return state_tokens <= (budget.requested ? budget.window : budget.room);
}

std::vector<TokenSpan> window_spans(std::size_t state_tokens, const WindowBudget& budget) {
  LAYARD_CHECK(budget.window > 0 && budget.stride > 0);
  std::vector<TokenSpan> spans;
  for (std::size_t start = 0; start < state_tokens; start += budget.stride) {
    spans.push_back({start, std::min(start + budget.window, state_tokens)});
    if (spans.back().end == state_tokens) break;
  }
  return spans;
}

std::optional<std::size_t> window_batch_max(std::size_t windows, const WindowBudget& budget,
                                            const PromptSpec& spec) {
  const std::size_t usual = default_window(spec);
  if (budget.window >= usual) return std::nullopt;
  const std::size_t half = std::max<std::size_t>(1, budget.window / 2);
  const std::size_t usual_half = std::max<std::size_t>(1, usual / 2);
  const std::size_t without_cap =
      std::max<std::size_t>(1, (windows * half + usual_half - 1) / usual_half);
  if (windows <= 2 * without_cap) return std::nullopt;
  return without_cap;
}

AnswerSet merge_windows(std::span<const AnswerSet> sets, std::span<const TokenSpan> spans) {
  LAYARD_CHECK(!sets.empty() && sets.size() == spans.size());
  AnswerSet merged;
  merged.model = sets.front().model;
  for (std::size_t q = 0; q < sets.front().answers.size(); ++q) {
    std::size_t best = 0;
    for (std::size_t w = 1; w < sets.size(); ++w) {
      LAYARD_CHECK(sets[w].answers.size() == sets.front().answers.size());
      if (strength(sets[w].answers[q]) > strength(sets[best].answers[q])) best = w;
    }
    Answer answer = sets[best].answers[q];
    answer.window = AnswerWindow{
        static_cast<std::int64_t>(best), static_cast<std::int64_t>(spans[best].start),
        static_cast<std::int64_t>(spans[best].end), static_cast<std::int64_t>(sets.size())};
    merged.answers.push_back(std::move(answer));
    if (!sets[best].stability.empty()) merged.stability.push_back(sets[best].stability[q]);
  }
  for (const AnswerSet& set : sets) {
    for (const std::string& warning : set.warnings) {
      if (std::find(merged.warnings.begin(), merged.warnings.end(), warning) ==
          merged.warnings.end()) {
        merged.warnings.push_back(warning);
      }
    }
  }
  merged.usage = sum_usage(sets);
  return merged;
}

}  // namespace layard::decision
