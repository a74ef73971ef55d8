#include "server/decisions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checks.h"
#include "server/systemone.h"

namespace layard::server {
namespace {

using base::JsonValue;

constexpr const char* kDescriptionIsText = "'description' must be a string";

Fault invalid(const std::string& where, std::string text) {
  return {422, where + ": " + std::move(text)};
}

const std::string* string_member(const JsonValue& value, std::string_view key) {
  const JsonValue* member = value.find(key);
  return member != nullptr && member->is_string() ? &member->text() : nullptr;
}

// The description, which may be absent or null; nothing for another kind of value.
std::optional<std::string> description_of(const JsonValue& value) {
  const JsonValue* member = value.find("description");
  if (member == nullptr || member->is_null()) return std::string();
  if (!member->is_string()) return std::nullopt;
  return member->text();
}

const JsonValue* given_member(const JsonValue& value, std::string_view key) {
  const JsonValue* member = value.find(key);
  return member != nullptr && !member->is_null() ? member : nullptr;
}

// `choices` as our `criteria`: value -> description.
OrFault<JsonValue> choice_criteria(const std::string& where, const JsonValue& question) {
  const JsonValue* choices = given_member(question, "choices");
  if (choices == nullptr || !choices->is_array() || choices->size() == 0) {
    return invalid(where, "a choice question needs 'choices', a list of {value, description}");
  }
  JsonValue criteria = JsonValue::object();
  for (const JsonValue& choice : choices->items()) {
    const std::string* value = choice.is_string() ? &choice.text() : string_member(choice, "value");
    if (value == nullptr) return invalid(where, "each of 'choices' needs 'value', a string");
    if (criteria.find(*value) != nullptr) {
      return invalid(where, "'" + shortened(*value, 200) + "' is twice among 'choices'");
    }
    const auto description = description_of(choice);
    if (!description.has_value()) return invalid(where, kDescriptionIsText);
    criteria.set(*value,
                 description->empty() ? JsonValue::null() : JsonValue::string(*description));
  }
  return criteria;
}

// `levels` as our `criteria`: one text a level, as a choice's option would be written.
OrFault<JsonValue> score_criteria(const std::string& where, const JsonValue& question,
                                  AskedQuestion& asked) {
  const JsonValue* levels = given_member(question, "levels");
  if (levels == nullptr || !levels->is_array() || levels->size() == 0) {
    return invalid(where, "a score question needs 'levels', a list of {label, description}");
  }
  JsonValue criteria = JsonValue::array();
  for (const JsonValue& level : levels->items()) {
    const std::string* label = level.is_string() ? &level.text() : string_member(level, "label");
    if (label == nullptr) return invalid(where, "each of 'levels' needs 'label', a string");
    const auto description = description_of(level);
    if (!description.has_value()) return invalid(where, kDescriptionIsText);
    criteria.push_back(
        JsonValue::string(description->empty() ? *label : *label + ": " + *description));
    asked.labels.push_back(*label);
  }
  return criteria;
}

OrFault<JsonValue> read_question(const std::string& where, const JsonValue& question,
                                 AskedQuestion& asked) {
  const std::string* type = string_member(question, "type");
  const std::string word = type != nullptr ? *type : std::string();
  JsonValue out = JsonValue::object();
  OrFault<JsonValue> criteria = JsonValue::null();
  if (word == "predicate") {
    asked.type = QuestionType::kNoul;
  } else if (word == "choice") {
    asked.type = QuestionType::kChoice;
    criteria = choice_criteria(where, question);
  } else if (word == "score") {
    asked.type = QuestionType::kScore;
    criteria = score_criteria(where, question, asked);
  } else {
    return invalid(where, "'type' must be one of predicate, choice, score");
  }
  if (auto* fault = std::get_if<Fault>(&criteria)) return *std::move(fault);
  out.set("type", JsonValue::string(std::string(to_string(asked.type))));
  if (const JsonValue* instructions = given_member(question, "instructions")) {
    out.set("instructions", *instructions);
  }
  if (auto& value = std::get<JsonValue>(criteria); !value.is_null()) {
    out.set("criteria", std::move(value));
  }
  return out;
}

// Names are the keys of the answers, so they must be there and differ.
OrFault<std::string> read_name(const std::string& where, const JsonValue& question,
                               std::size_t index, const JsonValue& taken) {
  const JsonValue* name = given_member(question, "name");
  if (name != nullptr && (!name->is_string() || name->text().empty())) {
    return invalid(where, "'name' must be a non-empty string");
  }
  std::string text = name != nullptr ? name->text() : "q" + std::to_string(index);
  if (taken.find(text) != nullptr) {
    return invalid(where, "the name '" + shortened(text, 200) + "' is taken by another question");
  }
  return text;
}

// Everything but the members that are translated: `model`, `overflow`, `min_confidence`, ...
JsonValue other_members(const JsonValue& body) {
  JsonValue out = JsonValue::object();
  for (const auto& [key, value] : body.members()) {
    const bool translated =
        key == "input" || key == "questions" || key == "state" || key == "context";
    if (!translated) out.set(key, value);
  }
  return out;
}

JsonValue rated(const char* key, const std::string& label, double probability) {
  JsonValue out = JsonValue::object();
  out.set(key, JsonValue::string(label));
  out.set("probability", JsonValue::real(probability));
  return out;
}

JsonValue answer_json(const Answer& answer, const AskedQuestion& asked) {
  static constexpr const char* kTypes[] = {"choice", "score", "predicate"};
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string(kTypes[static_cast<std::size_t>(asked.type)]));
  out.set("name", JsonValue::string(asked.name));
  JsonValue probabilities = JsonValue::array();
  double confidence = 0;
  if (const auto* choice = std::get_if<ChoiceAnswer>(&answer.value)) {
    out.set("choice", JsonValue::string(choice->choice.key));
    for (const auto& [key, p] : choice->probabilities) {
      probabilities.push_back(rated("value", key, p));
    }
    confidence = choice->answer_confidence;
  } else if (const auto* score = std::get_if<ScoreAnswer>(&answer.value)) {
    out.set("score", JsonValue::real(score->score));
    for (std::size_t i = 0; i < score->probabilities.size(); ++i) {
      probabilities.push_back(rated("label", asked.labels[i], score->probabilities[i]));
    }
    confidence = score->answer_confidence;
  } else {
    const auto& noul = std::get<NoulAnswer>(answer.value);
    out.set("probability", JsonValue::real(noul.noul));
    confidence = noul.answer_confidence;
  }
  if (probabilities.size() > 0) out.set("probabilities", std::move(probabilities));
  out.set("confidence", JsonValue::real(confidence));
  return out;
}

JsonValue usage_json(std::int64_t input_tokens) {
  JsonValue out = JsonValue::object();
  out.set("input_tokens", JsonValue::integer(input_tokens));
  out.set("output_tokens", JsonValue::integer(0));
  out.set("total_tokens", JsonValue::integer(input_tokens));
  return out;
}

}  // namespace

OrFault<AskedDecisions> read_decisions(const JsonValue& body) {
  const JsonValue* questions = body.find("questions");
  const JsonValue* input = body.find("input");
  if (questions == nullptr || input == nullptr) {
    return Fault{400, "request body must be an object with 'input' and 'questions' fields"};
  }
  if (!input->is_string() && !input->is_array()) {
    return Fault{400, "'input' must be a string or a list of messages"};
  }
  if (!questions->is_array() || questions->size() == 0) {
    return Fault{400, "'questions' must be a non-empty list"};
  }
  AskedDecisions out;
  JsonValue translated = JsonValue::object();
  for (std::size_t i = 0; i < questions->size(); ++i) {
    const JsonValue& question = questions->items()[i];
    const std::string where = "questions[" + std::to_string(i) + "]";
    if (!question.is_object()) return invalid(where, "must be an object");
    AskedQuestion asked;
    auto name = read_name(where, question, i, translated);
    if (auto* fault = std::get_if<Fault>(&name)) return *std::move(fault);
    asked.name = std::get<std::string>(std::move(name));
    auto definition = read_question(where, question, asked);
    if (auto* fault = std::get_if<Fault>(&definition)) return *std::move(fault);
    translated.set(asked.name, std::get<JsonValue>(std::move(definition)));
    out.questions.push_back(std::move(asked));
  }
  out.body = other_members(body);
  out.body.set("state", *input);
  out.body.set("questions", std::move(translated));
  return out;
}

std::string decisions_json(ServiceAnswer answer, const AskedDecisions& asked,
                           const Controls& controls, std::string_view request_id) {
  const AnswerSet set = answer.prediction.answers;
  LAYARD_CHECK(set.answers.size() == asked.questions.size());
  auto wire = base::parse_json(systemone_json(std::move(answer), controls), base::JsonLimits{});
  LAYARD_CHECK(wire.ok());
  JsonValue out = JsonValue::object();
  out.set("id", JsonValue::string(std::string(request_id)));
  out.set("object", JsonValue::string("decisions"));
  out.set("model", JsonValue::string(set.model));
  JsonValue answers = JsonValue::array();
  for (std::size_t i = 0; i < set.answers.size(); ++i) {
    answers.push_back(answer_json(set.answers[i], asked.questions[i]));
  }
  out.set("answers", std::move(answers));
  out.set("usage", usage_json(set.usage.input_tokens));
  for (const char* name : {"warnings", "stability", "routing", "layard"}) {
    if (const JsonValue* member = wire->find(name)) out.set(name, *member);
  }
  return base::write_json(out, base::JsonStyle::kCompact);
}

}  // namespace layard::server
