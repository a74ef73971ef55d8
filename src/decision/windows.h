/// Reading a long state whole: where its windows lie, and how their answers become one.
///
/// The caller encodes the state, asks for the budget and the spans, decodes each span back to
/// text, predicts every window as an ordinary text state and merges the answers here.
/// Source: laya 0.4.15 common.py `window_budget`, `window_batch_cap`; agent.py `predict_long`
/// (arithmetic and merge rule equal). Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decision/prompt.h"
#include "layard/answer.h"
#include "layard/error.h"

namespace layard::decision {

/// Sizes a caller may ask for, in tokens; absent or 0 means the default.
struct WindowRequest {
  std::size_t window = 0;
  std::size_t stride = 0;
};

/// How a scan proceeds, in tokens: 1 <= stride <= window <= room.
struct WindowBudget {
  std::size_t window = 0;
  std::size_t stride = 0;
  std::size_t room = 0;    // what the tightest question leaves for the state
  bool requested = false;  // the caller named a window
  std::vector<std::string> warnings;
};

/// One window of the encoded state.
struct TokenSpan {
  std::size_t start = 0;
  std::size_t end = 0;

  friend bool operator==(const TokenSpan&, const TokenSpan&) = default;
};

/// The budget for questions whose heads have these lengths (PromptStats::head_tokens).
/// Default window: max(64, max_len - head_max_len - 8), at most the room; default stride: half
/// the window. Errors: kInvalidRequest when no room is left or the stride would skip tokens.
Result<WindowBudget> window_budget(std::span<const std::size_t> head_tokens, const PromptSpec& spec,
                                   const WindowRequest& request);

/// Whether a state of that many tokens is read in one ordinary pass.
bool fits_one_pass(std::size_t state_tokens, const WindowBudget& budget);

/// The windows of a state that does not fit, in order: they cover every token.
std::vector<TokenSpan> window_spans(std::size_t state_tokens, const WindowBudget& budget);

/// How many windows to predict at once so that a narrowed window does not widen a pass beyond
/// what the default one would have needed; nothing means all.
std::optional<std::size_t> window_batch_max(std::size_t windows, const WindowBudget& budget,
                                            const PromptSpec& spec);

/// One answer set of all windows' sets: noul from the window with the highest P(true), choice and
/// score from the one with the highest answer_confidence, the first of equals; stability is that
/// window's; usage summed.
/// REQUIRES: as many sets as spans, at least one, all with the same questions.
AnswerSet merge_windows(std::span<const AnswerSet> sets, std::span<const TokenSpan> spans);

}  // namespace layard::decision
