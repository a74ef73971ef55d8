/// What both decision fuzzers do with questions that were accepted.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "decision/answers.h"
#include "decision/prompt.h"
#include "layard/answer.h"
#include "layard/question.h"

namespace layard::fuzz {

/// One id a byte.
class ByteEncoder final : public decision::TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    return {text.begin(), text.end()};
  }
};

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline decision::PromptSpec small_spec(bool parallel) {
  decision::PromptSpec spec;
  spec.max_len = 256;
  spec.head_max_len = 96;
  spec.cls_id = 1000;
  spec.sep_id = 1001;
  spec.mask_id = 1002;
  spec.mask_text = "[MASK]";
  spec.parallel_options = parallel;
  return spec;
}

/// Rows, then answers from made-up logits; the printed answers must be JSON.
inline void answer_all(const QuestionSet& questions, const State& state, OverflowPolicy overflow,
                       bool parallel) {
  const auto spec = small_spec(parallel);
  const auto rows = decision::build_rows(questions, state, spec, ByteEncoder(), overflow);
  if (!rows.ok()) return;
  std::vector<std::vector<float>> logits;
  for (const auto& row : *rows) {
    require(row.ids.size() <= static_cast<std::size_t>(spec.max_len));
    require(!parallel ||
            (row.positions.size() == row.ids.size() && row.options.size() == row.ids.size()));
    for (const auto marker : row.markers) {
      require(row.ids[static_cast<std::size_t>(marker)] == spec.mask_id);
    }
    logits.emplace_back();
    for (const auto id : row.markers) logits.back().push_back(static_cast<float>(id % 7) - 3.0F);
  }
  std::vector<decision::RowScores> scores;
  for (const auto& row : logits) scores.push_back({row, 0.5F});
  const auto answers = decision::decode_answers(questions, *rows, scores, decision::Calibration());
  require(answers.ok());
  const auto printed = print_answers(*answers, {false, JsonLayout::kCompact});
  const auto again = parse_answers(printed);
  require(again.ok() && *again == *answers);
}

}  // namespace layard::fuzz
