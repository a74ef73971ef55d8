/// What a request's body must be before anything is asked of a model: the checks of the wire, in
/// their order, with their texts. What only the decision rooms can judge (a question's form) is
/// left to them.
///
/// Source: laya 0.4.15 serve (order and texts). Departs: `context` is a second name of `state`; a
/// list of texts is a list of questions; a model's name is checked against those this server knows.
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/confidence.h"
#include "server/fault.h"

namespace layard::server {

/// Over one of these a request is refused with 413 (budgets: 422).
struct RequestLimits {
  std::size_t questions_max = 64;
  std::size_t choice_options_max = 100;   // of one question
  std::size_t score_levels_max = 32;      // of one question
  std::size_t options_max = 512;          // of all choice and score questions together
  std::size_t state_chars_max = 50'000;   // code points of the text the model would read
  std::size_t states_max = 64;            // of a batch
  std::size_t rows_max = 512;             // questions, each once an order of its options
  std::int64_t budget_tokens_max = 8192;  // of `max_len` and `head_max_len`
};

/// The names of checkpoints a request may use.
struct KnownModels {
  std::function<bool(std::string_view)> knows;
  std::function<std::vector<std::string>()> names;  // for the message
};

/// What a request asks for besides answers.
struct Controls {
  std::optional<ConfidenceGate> gate;  // `min_confidence`
  bool jev_strict = false;
  /// About members that this server has no use for.
  std::vector<std::string> warnings;
};

/// The body as JSON. 400: not JSON, too deep, an unpaired surrogate escape.
OrFault<base::JsonValue> parse_body(std::string_view body);

/// The body of /v1/systemone.
OrFault<Controls> check_systemone(const base::JsonValue& body, const RequestLimits& limits,
                                  const KnownModels& models);

/// The body of /v1/systemone/batch: `states` in the place of `state`.
OrFault<Controls> check_batch(const base::JsonValue& body, const RequestLimits& limits,
                              const KnownModels& models);

/// `questions` of either, or those that another form was translated to.
std::optional<Fault> check_questions(const base::JsonValue& questions, const RequestLimits& limits);

/// One state's size. REQUIRES: not null.
std::optional<Fault> check_state_size(const base::JsonValue& state, const RequestLimits& limits);

/// `model`: 422 when it looks like a path and is no known name.
std::optional<Fault> check_model(const base::JsonValue& body, const KnownModels& models);

}  // namespace layard::server
