/// Prompt rows: the token ids the model reads for each question, and what had to be cut.
///
/// Layout of a row, each option span starting with its marker (the mask token):
///   [CLS] `<type> question: <instructions>` [SEP] {[MASK] ` <option>`}... [SEP] <state> [SEP]
/// Invariants: every text is encoded with the tokenizer's mask text replaced by one space; the
/// state is encoded once for all questions; a row never has more than max_len ids.
/// Source: laya 0.4.15 common.py `build_head`, `build_sequence`, `parallel_layout`; agent.py
/// `_encode_state` (ids equal). Thread-safety: pure functions over a thread-safe encoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decision/text_encoder.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// What a checkpoint says about its rows. Lengths in tokens.
struct PromptSpec {
  int max_len = 512;       // of a row
  int head_max_len = 192;  // aimed at for instructions and options together
  std::int32_t cls_id = 0;
  std::int32_t sep_id = 0;
  std::int32_t mask_id = 0;
  std::int32_t pad_id = 0;
  std::string mask_text;          // removed from user text; empty: nothing is removed
  bool parallel_options = false;  // option_layout "parallel"
};

/// What building did to one row.
struct PromptStats {
  std::size_t options = 0;
  std::size_t options_distinct = 0;              // spans that differ after shortening
  std::optional<std::size_t> tokens_per_option;  // the cap, when options were shortened
  std::size_t head_tokens = 0;                   // up to and with the [SEP] before the state
  std::size_t instruction_tokens = 0;            // kept
  std::size_t instruction_tokens_dropped = 0;
  std::size_t state_tokens = 0;
  std::size_t state_tokens_used = 0;
  bool row_cut = false;  // the row itself was over max_len: trailing head tokens fell off

  std::size_t state_tokens_dropped() const { return state_tokens - state_tokens_used; }
  bool truncated() const { return state_tokens_used < state_tokens; }
};

/// One row. `markers` ascend and are in slot order (option_order applied).
struct PromptRow {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> markers;
  QuestionType type = QuestionType::kNoul;
  /// Parallel layout only, else empty: one entry a token. `options` is 0 for shared tokens and
  /// s + 1 for those of slot s.
  std::vector<std::int32_t> positions;
  std::vector<std::int32_t> options;
  PromptStats stats;
};

/// The question's part of a row, up to and with the [SEP] before the state; not cut to max_len.
struct PromptHead {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> markers;
  PromptStats stats;
};

/// Bounds: at most 48 ids of each option; with more options than both lengths only the first
/// max_len are encoded, since such a row is refused anyway.
PromptHead build_head(const Question& question, const PromptSpec& spec, const TextEncoder& encoder);

/// State ids that fit behind a head of `head_tokens`, 0 or more.
std::size_t state_room(std::size_t head_tokens, const PromptSpec& spec);

/// The whole state's ids, uncut.
std::vector<std::int32_t> encode_state(const State& state, const PromptSpec& spec,
                                       const TextEncoder& encoder);

/// One row a question, in order. kCut and kWindows keep what fits (windows are cut before, see
/// windows.h); kError refuses a state that does not fit every question.
/// Errors: kInvalidRequest naming the question and both lengths: markers beyond max_len; with
/// kError the tokens the state needs and those available.
Result<std::vector<PromptRow>> build_rows(const QuestionSet& questions, const State& state,
                                          const PromptSpec& spec, const TextEncoder& encoder,
                                          OverflowPolicy overflow);

/// The same over a state that is already encoded; `keep_end` as in State.
Result<std::vector<PromptRow>> build_rows(const QuestionSet& questions,
                                          std::span<const std::int32_t> state_ids, bool keep_end,
                                          const PromptSpec& spec, const TextEncoder& encoder,
                                          OverflowPolicy overflow);

}  // namespace layard::decision
