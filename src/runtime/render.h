/// What the model would read, for people: `layard render`.
#pragma once

#include <string>

#include "layard/question.h"
#include "runtime/prepare.h"
#include "tokenizer/tokenizer.h"

namespace layard::runtime {

/// JSON of each question's row: ids, tokens, text, markers, option spans, and what was cut. With
/// windows, one entry a window.
std::string render(const QuestionSet& questions, const PreparedRequest& prepared,
                   const tokenizer::Tokenizer& tokens, const CodecOptions& codec);

}  // namespace layard::runtime
