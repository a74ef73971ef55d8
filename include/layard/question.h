/// Questions and the text they are about: plain values, and the doors that read and print them as
/// JSON. Server, CLI, C and Python all go through these functions.
///
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"
#include "layard/export.h"

namespace layard {

/// The numbers are what the model's type embedding is indexed by; never renumber.
enum class QuestionType : unsigned char { kChoice = 0, kScore = 1, kNoul = 2 };

/// `choice`, `score`, `noul`.
LAYARD_EXPORT std::string_view to_string(QuestionType type);

/// The type of that exact name (case matters), or nothing.
LAYARD_EXPORT std::optional<QuestionType> question_type_from_string(std::string_view name);

/// How printed JSON is laid out. Non-ASCII text is never escaped.
enum class JsonLayout : unsigned char {
  kIndented,  // one member a line, indent 1: the CLI's form
  kSpaced,    // one line, `{"a": 1, "b": 2}`
  kCompact,   // one line without spaces: the HTTP form
};

/// What a caller may ask of the codec.
struct CodecOptions {
  /// Accepts absent or null `instructions`: the question's name is used as the text. A noul
  /// question then still needs a described side. Off in library and CLI, on in the server.
  bool missing_instructions = false;
  JsonLayout layout = JsonLayout::kIndented;
};

/// One answer label as it is read, keyed and printed.
struct Label {
  std::string text;  // in the option text: `True`, `2.5`, `refund`
  std::string key;   // in `probabilities`: `true`, `2.5`, `refund`
  std::string json;  // as the value of `choice`: `true`, `2.5`, `"refund"`

  friend bool operator==(const Label&, const Label&) = default;
};

/// One checked question with every text the model reads already rendered.
/// Bounds: at least one option; `option_order` is empty or a permutation of the option indices.
struct Question {
  std::string id;
  QuestionType type = QuestionType::kNoul;
  std::string instructions;
  /// Option texts in label order; noul is always {false, true}.
  std::vector<std::string> options;
  /// choice: one label an option. noul: the words that name the two sides. score: empty.
  std::vector<Label> labels;
  /// score: the text of each level, as `legend` prints it. Else empty.
  std::vector<std::string> levels;
  /// Slot s shows option option_order[s]; empty means the order given.
  std::vector<std::uint32_t> option_order;

  friend bool operator==(const Question&, const Question&) = default;
};

/// Questions in the order they are answered. Ids are distinct.
struct QuestionSet {
  std::vector<Question> questions;
  /// What whoever wrote them should know: members of a definition that nothing reads and that are
  /// one slip away from one that is read. They come with the answers.
  std::vector<std::string> warnings = {};

  friend bool operator==(const QuestionSet&, const QuestionSet&) = default;
};

/// The text the questions are about.
struct State {
  std::string text;
  /// A conversation (JSON array): when it is too long its newest part is kept, not its start.
  bool keep_end = false;
  /// `text` is the JSON of a value that is no string. What the model reads is the same; a language
  /// is read from the texts in it alone.
  bool json = false;

  friend bool operator==(const State&, const State&) = default;
};

/// What happens to a state that does not fit beside a question.
enum class OverflowPolicy : unsigned char { kCut, kError, kWindows };

/// `cut`, `error`, `windows`.
LAYARD_EXPORT std::string_view to_string(OverflowPolicy policy);

/// The policy of that exact name, or nothing.
LAYARD_EXPORT std::optional<OverflowPolicy> overflow_policy_from_string(std::string_view name);

/// Orders of a question's options that one request may ask for.
inline constexpr int kOrdersMax = 24;

/// One request:
/// `{"state" | "context", "questions", "overflow"?, "model"?, "orders"? | "stability"?}`.
struct Request {
  State state;
  QuestionSet questions;
  std::optional<OverflowPolicy> overflow;
  std::optional<std::string> model;
  /// As QuestionSet::warnings, of the request's own members.
  std::vector<std::string> warnings = {};
  /// As PredictOptions::orders, 1 to kOrdersMax; `"stability": true` is 2, false is 1.
  std::optional<int> orders = {};
};

/// Reads and checks questions: an object of id -> definition, or an array of distinct texts, each
/// of which becomes a noul question named after itself.
/// Errors: kInvalidRequest naming the question, what was found and what is accepted.
/// Source: laya 0.4.15 agent.py `_check_question` (conditions, their order, texts). Departs: the
/// array form; labels that would share an answer key and non-finite number labels are refused.
LAYARD_EXPORT Result<QuestionSet> parse_questions(std::string_view json,
                                                  const CodecOptions& options);

/// The questions as JSON that parse_questions reads back to the same rows and answers.
LAYARD_EXPORT std::string print_questions(const QuestionSet& questions,
                                          const CodecOptions& options);

/// Reads one state from JSON: a string is the text itself, anything else is its JSON text.
/// Errors: kInvalidRequest, also for null.
/// Source: laya 0.4.15 common.py `serialize_state`.
LAYARD_EXPORT Result<State> parse_state(std::string_view json);

/// Reads a command line's context: text that starts with `[` or `{` and parses is JSON, all other
/// text (also `123`) is itself.
/// Errors: kInvalidRequest for bytes that are not UTF-8 and for JSON over the parser's limits.
LAYARD_EXPORT Result<State> context_from_text(std::string_view text);

/// Reads one request. Unknown members are ignored; one that is a slip away from a known member
/// gives a warning.
/// Errors: kInvalidRequest: not an object, both or neither of `state` and `context`, a null state,
/// no questions, an unknown overflow policy, orders out of range, both or malformed `orders` and
/// `stability`, and everything parse_questions refuses.
LAYARD_EXPORT Result<Request> parse_request(std::string_view json, const CodecOptions& options);

}  // namespace layard
