#include "decision/codec.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "decision/json_members.h"
#include "decision/order_json.h"
#include "decision/python_text.h"
#include "decision/schema.h"
#include "layard/words.h"

namespace layard {
namespace decision {
namespace {

using base::JsonKind;
using base::JsonValue;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

base::JsonStyle style_of(JsonLayout layout) {
  switch (layout) {
    case JsonLayout::kIndented:
      return base::JsonStyle::kIndent1;
    case JsonLayout::kSpaced:
      return base::JsonStyle::kPython;
    case JsonLayout::kCompact:
      return base::JsonStyle::kCompact;
  }
  return base::JsonStyle::kIndent1;
}

// ---- members that nothing reads ----

constexpr std::size_t kWarningsMax = 16;

const std::vector<std::string>& request_members() {
  static const std::vector<std::string> kNames = {"state", "context", "questions", "overflow",
                                                  "model", "orders",  "stability"};
  return kNames;
}

const std::vector<std::string>& definition_members() {
  static const std::vector<std::string> kNames = {"type", "instructions", "criteria", "labels",
                                                  "option_order"};
  return kNames;
}

// Adds a warning for each member that is one slip away from a known one: most likely it was meant
// to be that. All others are other programs' business.
void warn_about_members(const JsonValue& object, std::span<const std::string> known,
                        const std::string& place, std::vector<std::string>& warnings) {
  for (const auto& [key, value] : object.members()) {
    if (warnings.size() >= kWarningsMax) return;
    if (std::ranges::find(known, key) != known.end()) continue;
    if (const auto meant = closest_name(key, known, 1)) {
      warnings.push_back(place + "nothing reads the member " + base::quote_json(key) +
                         "; did you mean \"" + *meant + "\"?");
    }
  }
}

// A refusal of something absent, with the member that was most likely meant to be it.
Error with_slip(Error error, std::span<const std::string> warnings) {
  if (!warnings.empty()) error.message += "; " + warnings.front();
  return error;
}

// ---- questions ----

Result<QuestionSet> read_question_list(std::span<const JsonValue> items) {
  if (items.size() > kEntriesMax) {
    return invalid("questions: " + std::to_string(items.size()) + " texts are over the limit of " +
                   std::to_string(kEntriesMax) + "; use fewer");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_string()) continue;
    return invalid(
        "questions must be a dict of question id -> definition, got list; a list may "
        "only hold the texts of yes/no questions, and item " +
        std::to_string(i) + " is " + std::string(json_type_name(items[i])));
  }
  JsonValue seen = JsonValue::object();
  QuestionSet set;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& text = items[i].text();
    if (const JsonValue* first = seen.find(text)) {
      return invalid("questions: item " + std::to_string(i) + " (" + json_shown(items[i]) +
                     ") repeats item " + first->text() +
                     "; each text is the key of its answer, so all must differ");
    }
    seen.set(text, JsonValue::integer(static_cast<std::int64_t>(i)));
    LAYARD_ASSIGN(Question question, read_plain_question(text));
    set.questions.push_back(std::move(question));
  }
  return set;
}

JsonValue parse_or_string(const std::string& json) {
  auto value = base::parse_json(json, base::JsonLimits{});
  return value.ok() ? *std::move(value) : JsonValue::string(json);
}

// What follows `label: ` in an option text, or null when the label stands alone.
JsonValue description_of(const std::string& option, const std::string& label) {
  if (option.size() < label.size() + 2) return JsonValue::null();
  return JsonValue::string(option.substr(label.size() + 2));
}

// A list where no label has a description (only a list can hold labels that are not strings).
JsonValue choice_criteria(const Question& question) {
  bool bare = true;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    bare = bare && question.options[i] == question.labels[i].text;
  }
  JsonValue criteria = bare ? JsonValue::array() : JsonValue::object();
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const Label& label = question.labels[i];
    if (bare) {
      criteria.push_back(parse_or_string(label.json));
    } else {
      criteria.set(label.text, description_of(question.options[i], label.text));
    }
  }
  return criteria;
}

JsonValue question_to_json(const Question& question) {
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string(std::string(to_string(question.type))));
  out.set("instructions", JsonValue::string(question.instructions));
  JsonValue criteria = JsonValue::object();
  if (question.type == QuestionType::kChoice) {
    criteria = choice_criteria(question);
  } else if (question.type == QuestionType::kScore) {
    criteria = JsonValue::array();
    for (const std::string& level : question.levels) criteria.push_back(JsonValue::string(level));
  } else {
    JsonValue labels = JsonValue::object();
    for (const std::size_t side : {0U, 1U}) {
      const char* key = side == 0 ? "false" : "true";
      criteria.set(key, description_of(question.options[side], question.labels[side].text));
      labels.set(key, JsonValue::string(question.labels[side].text));
    }
    out.set("labels", std::move(labels));
  }
  out.set("criteria", std::move(criteria));
  if (!question.option_order.empty()) {
    JsonValue order = JsonValue::array();
    for (const std::uint32_t index : question.option_order) {
      order.push_back(JsonValue::integer(index));
    }
    out.set("option_order", std::move(order));
  }
  return out;
}

// ---- answers to JSON ----

JsonValue with_confidence(JsonValue out, double confidence, double answer_confidence) {
  out.set("confidence", JsonValue::real(confidence));
  out.set("answer_confidence", JsonValue::real(answer_confidence));
  return out;
}

JsonValue to_json(const ChoiceAnswer& answer) {
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string("choice"));
  out.set("choice", parse_or_string(answer.choice.json));
  JsonValue probabilities = JsonValue::object();
  for (const auto& [key, p] : answer.probabilities) probabilities.set(key, JsonValue::real(p));
  out.set("probabilities", std::move(probabilities));
  return with_confidence(std::move(out), answer.confidence, answer.answer_confidence);
}

JsonValue to_json(const ScoreAnswer& answer) {
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string("score"));
  out.set("score", JsonValue::real(answer.score));
  JsonValue legend = JsonValue::object();
  for (std::size_t i = 0; i < answer.legend.size(); ++i) {
    legend.set(std::to_string(i), JsonValue::string(answer.legend[i]));
  }
  JsonValue probabilities = JsonValue::object();
  for (std::size_t i = 0; i < answer.probabilities.size(); ++i) {
    probabilities.set(std::to_string(i), JsonValue::real(answer.probabilities[i]));
  }
  out.set("legend", std::move(legend));
  out.set("probabilities", std::move(probabilities));
  return with_confidence(std::move(out), answer.confidence, answer.answer_confidence);
}

JsonValue to_json(const NoulAnswer& answer) {
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string("noul"));
  out.set("noul", JsonValue::real(answer.noul));
  return with_confidence(std::move(out), answer.confidence, answer.answer_confidence);
}

JsonValue to_json(const Answer& answer) {
  JsonValue out = std::visit([](const auto& value) { return to_json(value); }, answer.value);
  JsonValue action = JsonValue::object();
  action.set("act_probability", JsonValue::real(answer.act_probability));
  out.set("action", std::move(action));
  if (answer.window) {
    JsonValue window = JsonValue::object();
    window.set("index", JsonValue::integer(answer.window->index));
    window.set("token_start", JsonValue::integer(answer.window->token_start));
    window.set("token_end", JsonValue::integer(answer.window->token_end));
    window.set("count", JsonValue::integer(answer.window->count));
    out.set("window", std::move(window));
  }
  return out;
}

JsonValue strings_to_json(const std::vector<std::string>& texts) {
  JsonValue out = JsonValue::array();
  for (const std::string& text : texts) out.push_back(JsonValue::string(text));
  return out;
}

JsonValue to_json(const Usage& usage) {
  JsonValue out = JsonValue::object();
  out.set("input_tokens", JsonValue::integer(usage.input_tokens));
  out.set("output_tokens", JsonValue::integer(0));
  if (!usage.ran) return out;
  out.set("state_tokens", JsonValue::integer(usage.state_tokens));
  out.set("state_tokens_dropped", JsonValue::integer(usage.state_tokens_dropped));
  out.set("truncated", usage.summed ? JsonValue::integer(usage.truncated)
                                    : JsonValue::boolean(usage.truncated != 0));
  out.set("truncated_questions", strings_to_json(usage.truncated_questions));
  if (!usage.options.empty()) {
    JsonValue options = JsonValue::object();
    for (const CollapsedOptions& collapsed : usage.options) {
      JsonValue counts = JsonValue::object();
      counts.set("total", JsonValue::integer(collapsed.total));
      counts.set("distinct", JsonValue::integer(collapsed.distinct));
      counts.set("tokens_per_option", collapsed.tokens_per_option
                                          ? JsonValue::integer(*collapsed.tokens_per_option)
                                          : JsonValue::null());
      options.set(collapsed.question, std::move(counts));
    }
    out.set("options", std::move(options));
  }
  if (usage.windows) out.set("windows", JsonValue::integer(*usage.windows));
  return out;
}

// ---- answers from JSON ----

ScoreAnswer read_score_answer(MemberReader& reader) {
  ScoreAnswer answer;
  answer.score = reader.number("score");
  for (const auto& [key, text] : reader.object("legend").members()) {
    if (!text.is_string()) reader.note("/legend/" + key, "a string");
    answer.legend.push_back(text.text());
  }
  for (const auto& [key, p] : reader.numbers("probabilities")) answer.probabilities.push_back(p);
  answer.confidence = reader.number("confidence");
  answer.answer_confidence = reader.number("answer_confidence");
  return answer;
}

ChoiceAnswer read_choice_answer(MemberReader& reader, const JsonValue& value) {
  ChoiceAnswer answer;
  const JsonValue* choice = value.find("choice");
  if (choice == nullptr || choice->is_array() || choice->is_object()) {
    reader.note("/choice", "a label");
  } else {
    answer.choice = label_of(*choice);
  }
  answer.probabilities = reader.numbers("probabilities");
  answer.confidence = reader.number("confidence");
  answer.answer_confidence = reader.number("answer_confidence");
  return answer;
}

Result<Answer> read_answer(const std::string& id, const JsonValue& value) {
  MemberReader reader("answers/" + id, value);
  Answer answer;
  answer.id = id;
  const auto type = question_type_from_string(reader.text("type"));
  if (!type) reader.note("/type", "one of choice, score, noul");
  LAYARD_TRY(reader.status());
  switch (*type) {
    case QuestionType::kChoice:
      answer.value = read_choice_answer(reader, value);
      break;
    case QuestionType::kScore:
      answer.value = read_score_answer(reader);
      break;
    case QuestionType::kNoul:
      answer.value = NoulAnswer{reader.number("noul"), reader.number("confidence"),
                                reader.number("answer_confidence")};
      break;
  }
  MemberReader action("answers/" + id + "/action", reader.object("action"));
  LAYARD_TRY(reader.status());
  answer.act_probability = action.number("act_probability");
  LAYARD_TRY(action.status());
  if (const JsonValue* window = value.find("window")) {
    MemberReader span("answers/" + id + "/window", *window);
    answer.window = AnswerWindow{span.integer("index"), span.integer("token_start"),
                                 span.integer("token_end"), span.integer("count")};
    LAYARD_TRY(span.status());
  }
  return answer;
}

Result<std::vector<CollapsedOptions>> read_collapsed(const JsonValue& value) {
  std::vector<CollapsedOptions> out;
  for (const auto& [question, counts] : value.members()) {
    MemberReader reader("usage/options/" + question, counts);
    CollapsedOptions collapsed;
    collapsed.question = question;
    collapsed.total = reader.integer("total");
    collapsed.distinct = reader.integer("distinct");
    const JsonValue* cap = counts.find("tokens_per_option");
    if (cap != nullptr && !cap->is_null()) {
      collapsed.tokens_per_option = reader.integer("tokens_per_option");
    }
    LAYARD_TRY(reader.status());
    out.push_back(std::move(collapsed));
  }
  return out;
}

Result<Usage> read_usage(const JsonValue& value) {
  MemberReader reader("usage", value);
  Usage usage;
  usage.input_tokens = reader.integer("input_tokens");
  usage.ran = reader.has("state_tokens");
  if (usage.ran) {
    usage.state_tokens = reader.integer("state_tokens");
    usage.state_tokens_dropped = reader.integer("state_tokens_dropped");
    const JsonValue* truncated = value.find("truncated");
    usage.summed = truncated == nullptr || !truncated->is_bool();
    usage.truncated = usage.summed ? reader.integer("truncated") : (truncated->as_bool() ? 1 : 0);
    usage.truncated_questions = reader.texts("truncated_questions");
    if (reader.has("windows")) usage.windows = reader.integer("windows");
  }
  LAYARD_TRY(reader.status());
  if (const JsonValue* options = value.find("options")) {
    LAYARD_ASSIGN(usage.options, read_collapsed(*options));
  }
  return usage;
}

}  // namespace

Result<QuestionSet> read_questions(const JsonValue& value, const CodecOptions& options) {
  if (value.is_array()) return read_question_list(value.items());
  if (!value.is_object()) {
    return invalid("questions must be a dict of question id -> definition, got " +
                   std::string(python_type_name(value)));
  }
  QuestionSet set;
  set.questions.reserve(value.size());
  for (const auto& [id, definition] : value.members()) {
    const std::size_t before = set.warnings.size();
    warn_about_members(definition, definition_members(), "question '" + id + "': ", set.warnings);
    auto question = read_question(id, definition, options.missing_instructions);
    if (!question.ok()) {
      return with_slip(question.error(), std::span(set.warnings).subspan(before));
    }
    set.questions.push_back(*std::move(question));
  }
  return set;
}

Result<State> read_state(const JsonValue& value) {
  if (value.is_null()) return invalid("state must not be None; pass a string, dict, or list");
  return State{json_text(value), value.is_array(), !value.is_string()};
}

Result<Request> read_request(const JsonValue& value, const CodecOptions& options) {
  if (!value.is_object()) {
    return invalid("a request must be an object with 'state' and 'questions', got " +
                   std::string(json_type_name(value)));
  }
  const JsonValue* state = value.find("state");
  const JsonValue* context = value.find("context");
  if (state != nullptr && context != nullptr) {
    return invalid("'state' and 'context' are two names for one thing; send only one of them");
  }
  Request request;
  warn_about_members(value, request_members(), "", request.warnings);
  if (state == nullptr && context == nullptr) {
    return with_slip(
        invalid("'state' is required: the text, object or list the questions are about"),
        request.warnings);
  }
  LAYARD_ASSIGN(request.state, read_state(state != nullptr ? *state : *context));
  const JsonValue* questions = value.find("questions");
  if (questions == nullptr || questions->is_null()) {
    return with_slip(invalid("'questions' are required"), request.warnings);
  }
  LAYARD_ASSIGN(request.questions, read_questions(*questions, options));
  if (const JsonValue* overflow = value.find("overflow"); overflow && !overflow->is_null()) {
    request.overflow =
        overflow->is_string() ? overflow_policy_from_string(overflow->text()) : std::nullopt;
    if (!request.overflow) {
      return invalid("'overflow' must be one of cut, error, windows, got " + json_shown(*overflow));
    }
  }
  LAYARD_ASSIGN(request.orders, read_orders(value));
  if (const JsonValue* model = value.find("model"); model && !model->is_null()) {
    if (!model->is_string()) return invalid("'model' must be a string, got " + json_shown(*model));
    request.model = model->text();
  }
  return request;
}

JsonValue answers_to_json(const AnswerSet& set) {
  JsonValue root = JsonValue::object();
  root.set("model", JsonValue::string(set.model));
  JsonValue answers = JsonValue::object();
  for (const Answer& answer : set.answers) answers.set(answer.id, to_json(answer));
  root.set("answers", std::move(answers));
  root.set("usage", to_json(set.usage));
  if (!set.warnings.empty()) root.set("warnings", strings_to_json(set.warnings));
  if (!set.stability.empty()) root.set("stability", stability_to_json(set.stability));
  for (const ExtraField& field : set.extra) {
    if (root.find(field.key) == nullptr) root.set(field.key, parse_or_string(field.json));
  }
  return root;
}

Result<AnswerSet> read_answers(const JsonValue& value) {
  MemberReader reader("response", value);
  AnswerSet set;
  set.model = reader.text("model");
  const JsonValue& answers = reader.object("answers");
  const JsonValue& usage = reader.object("usage");
  if (reader.has("warnings")) set.warnings = reader.texts("warnings");
  LAYARD_TRY(reader.status());
  for (const auto& [id, answer] : answers.members()) {
    LAYARD_ASSIGN(Answer read, read_answer(id, answer));
    set.answers.push_back(std::move(read));
  }
  LAYARD_ASSIGN(set.usage, read_usage(usage));
  if (const JsonValue* stability = value.find("stability")) {
    LAYARD_ASSIGN(set.stability, read_stability(*stability));
  }
  constexpr std::array<std::string_view, 5> kOwn = {"model", "answers", "usage", "warnings",
                                                    "stability"};
  for (const auto& [key, extra] : value.members()) {
    if (std::find(kOwn.begin(), kOwn.end(), key) != kOwn.end()) continue;
    set.extra.push_back({key, base::write_json(extra, base::JsonStyle::kCompact)});
  }
  return set;
}

}  // namespace decision

Result<QuestionSet> parse_questions(std::string_view json, const CodecOptions& options) {
  LAYARD_ASSIGN(const base::JsonValue value, base::parse_json(json, base::JsonLimits{}));
  return decision::read_questions(value, options);
}

std::string print_questions(const QuestionSet& questions, const CodecOptions& options) {
  base::JsonValue root = base::JsonValue::object();
  for (const Question& question : questions.questions) {
    root.set(question.id, decision::question_to_json(question));
  }
  return base::write_json(root, decision::style_of(options.layout));
}

Result<State> parse_state(std::string_view json) {
  LAYARD_ASSIGN(const base::JsonValue value, base::parse_json(json, base::JsonLimits{}));
  return decision::read_state(value);
}

Result<Request> parse_request(std::string_view json, const CodecOptions& options) {
  LAYARD_ASSIGN(const base::JsonValue value, base::parse_json(json, base::JsonLimits{}));
  return decision::read_request(value, options);
}

std::string print_answers(const AnswerSet& answers, const CodecOptions& options) {
  return base::write_json(decision::answers_to_json(answers), decision::style_of(options.layout));
}

Result<AnswerSet> parse_answers(std::string_view json) {
  LAYARD_ASSIGN(const base::JsonValue value, base::parse_json(json, base::JsonLimits{}));
  return decision::read_answers(value);
}

}  // namespace layard
