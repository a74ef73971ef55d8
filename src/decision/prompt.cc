#include "decision/prompt.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "decision/python_text.h"

namespace layard::decision {
namespace {

constexpr std::size_t kOptionTokensMax = 48;        // of an option's text, its marker not counted
constexpr std::int64_t kInstructionTokensMin = 16;  // fewer left: options are shortened
constexpr std::int64_t kOptionSpanMin = 4;          // shortest cap, marker included
constexpr std::int64_t kInstructionFloor = 8;       // kept whatever the options take

std::string without_mask(std::string_view text, std::string_view mask) {
  std::string out;
  if (mask.empty()) return std::string(text);
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(mask, from)) != std::string_view::npos;) {
    out.append(text, from, at - from);
    out.push_back(' ');
    from = at + mask.size();
  }
  out.append(text, from);
  return out;
}

void cut_to(std::vector<std::int32_t>& ids, std::size_t count) {
  if (ids.size() > count) ids.resize(count);
}

using Spans = std::vector<std::vector<std::int32_t>>;

std::int64_t total_size(const Spans& spans) {
  std::int64_t total = 0;
  for (const auto& span : spans) total += static_cast<std::int64_t>(span.size());
  return total;
}

std::size_t shown_option(const Question& question, std::size_t slot) {
  return question.option_order.empty() ? slot : question.option_order[slot];
}

Spans encode_options(const Question& question, std::size_t slots, const PromptSpec& spec,
                     const TextEncoder& encoder) {
  Spans spans;
  spans.reserve(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::string& option = question.options[shown_option(question, slot)];
    std::vector<std::int32_t> ids = encoder.encode(" " + without_mask(option, spec.mask_text));
    cut_to(ids, kOptionTokensMax);
    ids.insert(ids.begin(), spec.mask_id);
    spans.push_back(std::move(ids));
  }
  return spans;
}

// Positions start anew at every option, so that order cannot be seen; computed before the row is
// cut, so a dropped option cannot widen the last one that is left.
void lay_out_in_parallel(const PromptHead& head, std::size_t length, PromptRow& row) {
  const std::size_t closing = head.ids.size() - 1;
  const std::size_t start =
      head.markers.empty() ? closing : static_cast<std::size_t>(head.markers.front());
  for (std::size_t i = 0; i < start; ++i) row.positions.push_back(static_cast<std::int32_t>(i));
  row.options.assign(start, 0);
  std::size_t longest = 0;
  for (std::size_t slot = 0; slot < head.markers.size(); ++slot) {
    const auto begin = static_cast<std::size_t>(head.markers[slot]);
    const std::size_t end =
        slot + 1 < head.markers.size() ? static_cast<std::size_t>(head.markers[slot + 1]) : closing;
    longest = std::max(longest, end - begin);
    for (std::size_t i = 0; i < end - begin; ++i) {
      row.positions.push_back(static_cast<std::int32_t>(start + i));
      row.options.push_back(static_cast<std::int32_t>(slot + 1));
    }
  }
  std::size_t next = start + longest;
  while (row.positions.size() < length) row.positions.push_back(static_cast<std::int32_t>(next++));
  row.options.resize(length, 0);
}

PromptRow assemble(PromptHead head, std::span<const std::int32_t> state_ids, bool keep_end,
                   QuestionType type, const PromptSpec& spec) {
  PromptRow row;
  row.type = type;
  row.stats = head.stats;
  const std::size_t used = std::min(state_room(head.ids.size(), spec), state_ids.size());
  const auto kept = keep_end ? state_ids.last(used) : state_ids.first(used);
  row.stats.state_tokens = state_ids.size();
  row.stats.state_tokens_used = used;
  const std::size_t length = head.ids.size() + used + 1;
  const auto max_len = static_cast<std::size_t>(std::max(spec.max_len, 0));
  row.stats.row_cut = length > max_len;
  if (spec.parallel_options) {
    lay_out_in_parallel(head, length, row);
    cut_to(row.positions, max_len);
    cut_to(row.options, max_len);
  }
  row.ids = std::move(head.ids);
  row.ids.insert(row.ids.end(), kept.begin(), kept.end());
  row.ids.push_back(spec.sep_id);
  cut_to(row.ids, max_len);
  row.markers = std::move(head.markers);
  std::erase_if(row.markers, [&spec](std::int32_t marker) { return marker >= spec.max_len; });
  return row;
}

Error too_many_options(const Question& question, std::size_t surviving, const PromptSpec& spec) {
  return {ErrorCode::kInvalidRequest,
          "question " + python_repr(question.id) + ": only " + std::to_string(surviving) +
              " of its " + std::to_string(question.options.size()) +
              " option markers fit in max_len=" + std::to_string(spec.max_len) +
              " with head_max_len=" + std::to_string(spec.head_max_len) +
              " spent on the question; lower head_max_len, raise max_len, or use fewer options"};
}

Error state_too_long(const Question& question, const PromptRow& row, const PromptSpec& spec) {
  return {ErrorCode::kInvalidRequest,
          "question " + python_repr(question.id) + ": the state needs " +
              std::to_string(row.stats.state_tokens) + " tokens and " +
              std::to_string(row.stats.state_tokens_used) +
              " are available (max_len=" + std::to_string(spec.max_len) + ", the question takes " +
              std::to_string(row.stats.head_tokens) +
              "); shorten the state or use overflow 'cut' or 'windows'"};
}

}  // namespace

PromptHead build_head(const Question& question, const PromptSpec& spec,
                      const TextEncoder& encoder) {
  const auto option_count = static_cast<std::int64_t>(question.options.size());
  const std::int64_t aim = spec.head_max_len;
  // Each option takes at least its marker: beyond both lengths the cap is known to be the
  // smallest and later options cannot survive, so they need not be encoded.
  const bool hopeless = option_count > std::max<std::int64_t>({aim, spec.max_len, 1});
  const auto slots = static_cast<std::size_t>(hopeless ? std::max(spec.max_len, 1) : option_count);
  std::vector<std::int32_t> instructions =
      encoder.encode(std::string(to_string(question.type)) +
                     " question: " + without_mask(question.instructions, spec.mask_text));
  Spans spans = encode_options(question, slots, spec, encoder);

  PromptHead head;
  std::int64_t budget = hopeless ? 0 : aim - total_size(spans);
  if (budget < kInstructionTokensMin) {
    const std::int64_t cap = std::max(
        kOptionSpanMin, (aim - kInstructionTokensMin) / std::max<std::int64_t>(1, option_count));
    for (auto& span : spans) cut_to(span, static_cast<std::size_t>(cap));
    head.stats.tokens_per_option = static_cast<std::size_t>(cap);
    budget = hopeless ? 0 : aim - total_size(spans);
  }
  const std::size_t encoded = instructions.size();
  cut_to(instructions, static_cast<std::size_t>(std::max(kInstructionFloor, budget)));
  head.stats.instruction_tokens = instructions.size();
  head.stats.instruction_tokens_dropped = encoded - instructions.size();

  head.ids.push_back(spec.cls_id);
  head.ids.insert(head.ids.end(), instructions.begin(), instructions.end());
  head.ids.push_back(spec.sep_id);
  for (const auto& span : spans) {
    head.markers.push_back(static_cast<std::int32_t>(head.ids.size()));
    head.ids.insert(head.ids.end(), span.begin(), span.end());
  }
  head.ids.push_back(spec.sep_id);
  head.stats.options = question.options.size();
  head.stats.options_distinct = std::set(spans.begin(), spans.end()).size();
  head.stats.head_tokens = head.ids.size();
  return head;
}

std::size_t state_room(std::size_t head_tokens, const PromptSpec& spec) {
  const std::int64_t room = spec.max_len - static_cast<std::int64_t>(head_tokens) - 1;
  return static_cast<std::size_t>(std::max<std::int64_t>(0, room));
}

std::vector<std::int32_t> encode_state(const State& state, const PromptSpec& spec,
                                       const TextEncoder& encoder) {
  return encoder.encode(without_mask(state.text, spec.mask_text));
}

Result<std::vector<PromptRow>> build_rows(const QuestionSet& questions,
                                          std::span<const std::int32_t> state_ids, bool keep_end,
                                          const PromptSpec& spec, const TextEncoder& encoder,
                                          OverflowPolicy overflow) {
  std::vector<PromptRow> rows;
  rows.reserve(questions.questions.size());
  for (const Question& question : questions.questions) {
    PromptRow row =
        assemble(build_head(question, spec, encoder), state_ids, keep_end, question.type, spec);
    if (row.markers.size() != question.options.size()) {
      return too_many_options(question, row.markers.size(), spec);
    }
    if (overflow == OverflowPolicy::kError && row.stats.truncated()) {
      return state_too_long(question, row, spec);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<PromptRow>> build_rows(const QuestionSet& questions, const State& state,
                                          const PromptSpec& spec, const TextEncoder& encoder,
                                          OverflowPolicy overflow) {
  if (questions.questions.empty()) return std::vector<PromptRow>{};
  return build_rows(questions, encode_state(state, spec, encoder), state.keep_end, spec, encoder,
                    overflow);
}

}  // namespace layard::decision
