/// The one place where questions, states, requests and answers become JSON and come back.
///
/// The text doors are public (layard/question.h, layard/answer.h); these are the same over values
/// already parsed, for rooms that read a larger document.
/// Source: as those headers say. Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "base/json.h"
#include "layard/answer.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// As parse_questions.
Result<QuestionSet> read_questions(const base::JsonValue& value, const CodecOptions& options);

/// As parse_state.
Result<State> read_state(const base::JsonValue& value);

/// As parse_request.
Result<Request> read_request(const base::JsonValue& value, const CodecOptions& options);

/// The root object print_answers writes.
base::JsonValue answers_to_json(const AnswerSet& answers);

/// As parse_answers.
Result<AnswerSet> read_answers(const base::JsonValue& value);

}  // namespace layard::decision
