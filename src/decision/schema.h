/// Checks one question definition and renders every text of it; called by the codec only.
///
/// Invariants: conditions are tried in upstream's order and refused with upstream's texts, Python
/// spelling included, so that clients who match on them keep working.
/// Source: laya 0.4.15 agent.py `_check_question`, `_to_internal`; common.py `render_options`.
/// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::decision {

/// Most labels or levels of one question and most questions of one list, as many as the JSON reader
/// takes members of an object. No row has room for more.
inline constexpr std::size_t kEntriesMax = 65536;

/// The question `id` of that definition. With `missing_instructions`, absent or null instructions
/// become the id, except for a noul question none of whose sides is described.
/// Errors: kInvalidRequest.
Result<Question> read_question(std::string_view id, const base::JsonValue& definition,
                               bool missing_instructions);

/// A noul question asked by its own text, as read_question reads
/// `{"type": "noul", "instructions": text}` under the id `text`.
Result<Question> read_plain_question(std::string_view text);

}  // namespace layard::decision
