/// /v1/decisions: the same questions and answers in OpenAI's form.
///
///   {"model"?, "input": text | messages, "questions": [
///     {"type": "predicate", "name"?, "instructions"},
///     {"type": "choice", "name"?, "instructions"?, "choices": [{"value", "description"?}]},
///     {"type": "score", "name"?, "instructions"?, "levels": [{"label", "description"?}]}]}
///
/// A predicate is our noul question. Answers are an array in the order of the questions.
/// Source: OpenAI's description of the Decisions form, second-hand (docs/serving.md says what that
/// leaves open).
/// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layard/service.h"
#include "server/checks.h"

namespace layard::server {

/// One question as it was asked, as far as its answer repeats it.
struct AskedQuestion {
  std::string name;  // given, or `q0`, `q1`, ... by place
  QuestionType type = QuestionType::kNoul;
  std::vector<std::string> labels;  // score: of its levels
};

/// A request translated to ours. `body` is that of /v1/systemone, yet to be checked.
struct AskedDecisions {
  base::JsonValue body;
  std::vector<AskedQuestion> questions;
};

/// 400 for a body of another form, 422 for a question that cannot be translated, naming it.
OrFault<AskedDecisions> read_decisions(const base::JsonValue& body);

/// `{"id", "object": "decisions", "model", "answers", "usage", "warnings"?, "routing", "layard"}`.
/// REQUIRES: `answer` answers `asked`.
std::string decisions_json(ServiceAnswer answer, const AskedDecisions& asked,
                           const Controls& controls, std::string_view request_id);

}  // namespace layard::server
