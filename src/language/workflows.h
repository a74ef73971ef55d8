/// The question sets that the checkpoint for typed decisions was trained on.
///
/// A recognised set is only reported: it never changes which checkpoint answers.
/// Source: laya 0.3.20 router.py (names, ids, exact equality of the sets). Thread-safety: pure.
#pragma once

#include <optional>
#include <string_view>

#include "layard/question.h"

namespace layard::language {

/// The workflow whose question ids are exactly those of `questions`, in any order, or nothing.
std::optional<std::string_view> workflow_of(const QuestionSet& questions);

}  // namespace layard::language
