// Lines of labelled questions.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/json.h"
#include "evaluation/option_names.h"
#include "layard/evaluation.h"

namespace layard {
namespace {

using base::JsonValue;

constexpr std::size_t kShownBytes = 80;
constexpr std::size_t kLabelsShown = 12;

Error invalid(std::string text) { return {ErrorCode::kInvalidRequest, std::move(text)}; }

std::string shown(const JsonValue& value) {
  const std::string text = write_json(value, base::JsonStyle::kPython);
  return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...";
}

std::size_t options_of(const Question& question) { return question.options.size(); }

std::string listed_options(const Question& question) {
  std::string out;
  const std::size_t count = options_of(question);
  for (std::size_t i = 0; i < std::min(count, kLabelsShown); ++i) {
    out += (i == 0 ? "" : ", ") + evaluation::option_name(question, i);
  }
  return count > kLabelsShown ? out + ", ..." : out;
}

std::optional<std::size_t> find_option(const Question& question, std::string_view key) {
  for (std::size_t i = 0; i < options_of(question); ++i) {
    if (evaluation::option_name(question, i) == key) return i;
  }
  return std::nullopt;
}

// The option that a plain target names.
std::optional<std::size_t> named_option(const Question& question, const JsonValue& value) {
  switch (question.type) {
    case QuestionType::kChoice:
      if (value.is_string()) return find_option(question, value.text());
      for (std::size_t i = 0; i < question.labels.size(); ++i) {
        if (question.labels[i].json == write_json(value, base::JsonStyle::kPython)) return i;
      }
      return std::nullopt;
    case QuestionType::kScore: {
      const auto level = value.as_int64();
      if (!level || *level < 0 || *level >= static_cast<std::int64_t>(options_of(question))) {
        return std::nullopt;
      }
      return static_cast<std::size_t>(*level);
    }
    case QuestionType::kNoul:
      if (!value.is_bool()) return std::nullopt;
      return value.as_bool() ? 1 : 0;
  }
  return std::nullopt;
}

Error no_option(const Question& question, const JsonValue& value) {
  switch (question.type) {
    case QuestionType::kChoice:
      return invalid(shown(value) + " is none of its labels: " + listed_options(question));
    case QuestionType::kScore:
      return invalid(shown(value) + " is no index of its levels, 0 to " +
                     std::to_string(options_of(question) - 1));
    case QuestionType::kNoul:
      return invalid("must be true or false, got " + shown(value));
  }
  return invalid("");
}

Result<Target> read_soft_target(const Question& question, const JsonValue& probabilities) {
  if (!probabilities.is_object()) {
    return invalid("\"probabilities\" must be an object of label -> number, got " +
                   shown(probabilities));
  }
  Target target(options_of(question), 0.0);
  double sum = 0;
  for (const auto& [key, value] : probabilities.members()) {
    const auto option = find_option(question, key);
    if (!option) return no_option(question, JsonValue::string(key));
    const double p = value.as_double();
    if (!value.is_number() || !std::isfinite(p) || p < 0) {
      return invalid("the probability of " + base::quote_json(key) +
                     " must be a number from 0 on, got " + shown(value));
    }
    target[*option] = p;
    sum += p;
  }
  if (!(sum > 0) || !std::isfinite(sum)) {
    return invalid("the probabilities must have a sum above 0 that is finite");
  }
  for (double& p : target) p /= sum;
  return target;
}

Result<Target> read_target(const Question& question, const JsonValue& value) {
  if (value.is_object()) {
    const JsonValue* probabilities = value.find("probabilities");
    if (probabilities == nullptr) {
      return invalid("an object must have \"probabilities\", got " + shown(value));
    }
    return read_soft_target(question, *probabilities);
  }
  const auto option = named_option(question, value);
  if (!option) return no_option(question, value);
  Target target(options_of(question), 0.0);
  target[*option] = 1;
  return target;
}

// The member that holds the targets, and its name.
Result<std::pair<std::string, const JsonValue*>> find_targets(const JsonValue& line) {
  const JsonValue* expected = line.find("expected");
  const JsonValue* gold = line.find("gold");
  if ((expected == nullptr) == (gold == nullptr)) {
    return invalid(expected == nullptr ? "needs \"expected\" (or \"gold\"): what is true of each "
                                         "question"
                                       : "has \"expected\" and \"gold\"; give one of the two");
  }
  std::pair<std::string, const JsonValue*> out{expected != nullptr ? "expected" : "gold",
                                               expected != nullptr ? expected : gold};
  if (!out.second->is_object()) {
    return invalid("\"" + out.first + "\" must be an object of question -> answer");
  }
  return out;
}

Status read_targets(const JsonValue& line, EvaluationCase& out) {
  LAYARD_ASSIGN(const auto named, find_targets(line));
  const auto& [name, targets] = named;
  for (const Question& question : out.questions.questions) {
    const std::string where = name + ", question " + base::quote_json(question.id) + ": ";
    const JsonValue* value = targets->find(question.id);
    if (value == nullptr) return invalid(where + "has no answer");
    auto target = read_target(question, *value);
    if (!target.ok()) return invalid(where + target.error().message);
    out.targets.push_back(*std::move(target));
  }
  for (const auto& [id, value] : targets->members()) {
    if (std::ranges::find(out.questions.questions, id, &Question::id) ==
        out.questions.questions.end()) {
      return invalid(name + ": " + base::quote_json(id) + " is none of the line's questions");
    }
  }
  return {};
}

Result<std::string> read_name(const JsonValue& line, const char* member) {
  const JsonValue* value = line.find(member);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) {
    return invalid(std::string("\"") + member + "\" must be a text, got " + shown(*value));
  }
  return value->text();
}

/// Lines one after another.
class CaseReader {
 public:
  explicit CaseReader(std::string_view split) : split_(split) {}

  Status read(std::string_view line) {
    ++number_;
    if (line.find_first_not_of(" \t\r") == line.npos) return {};
    auto one = read_case(line);
    if (!one.ok()) {
      return Error{one.error().code,
                   "line " + std::to_string(number_) + ": " + one.error().message};
    }
    if (!*one) return {};
    questions_ += (*one)->questions.questions.size();
    if (cases_.size() >= kEvaluationCasesMax || questions_ > kEvaluationQuestionsMax) {
      return invalid("line " + std::to_string(number_) +
                     ": more than 200,000 lines or 1,000,000 questions; split the file");
    }
    cases_.push_back(**std::move(one));
    return {};
  }

  Result<std::vector<EvaluationCase>> finish() {
    if (!cases_.empty()) return std::move(cases_);
    if (other_splits_.empty()) return invalid("there is no line with questions");
    std::string text = "no line has the split " + base::quote_json(split_) + "; there are ";
    for (std::size_t i = 0; i < other_splits_.size(); ++i) {
      text += (i == 0 ? "" : ", ") + base::quote_json(other_splits_[i]);
    }
    return invalid(text);
  }

 private:
  Result<std::optional<EvaluationCase>> read_case(std::string_view line) {
    LAYARD_ASSIGN(const JsonValue value, base::parse_json(line, {}));
    if (!value.is_object()) return invalid("must be an object, got " + shown(value));
    if (!split_.empty()) {
      LAYARD_ASSIGN(const std::string split, read_name(value, "split"));
      if (split != split_) {
        note_split(split);
        return std::optional<EvaluationCase>();
      }
    }
    LAYARD_ASSIGN(Request request, parse_request(line, {}));
    EvaluationCase out;
    out.line = number_;
    LAYARD_ASSIGN(out.source, read_name(value, "source"));
    out.state = std::move(request.state);
    out.questions = std::move(request.questions);
    if (out.questions.questions.empty()) return invalid("\"questions\" has no question");
    LAYARD_TRY(read_targets(value, out));
    return std::optional<EvaluationCase>(std::move(out));
  }

  void note_split(const std::string& split) {
    constexpr std::size_t kSplitsMax = 8;
    if (other_splits_.size() >= kSplitsMax) return;
    if (std::ranges::find(other_splits_, split) != other_splits_.end()) return;
    other_splits_.push_back(split.substr(0, kShownBytes));
  }

  std::string split_;
  std::vector<EvaluationCase> cases_;
  std::vector<std::string> other_splits_;
  std::size_t number_ = 0;
  std::size_t questions_ = 0;
};

}  // namespace

Result<std::vector<EvaluationCase>> parse_evaluation_cases(std::string_view text,
                                                           std::string_view split) {
  if (text.size() > kEvaluationBytesMax) return invalid("has more than 256 MiB; split the file");
  CaseReader reader(split);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    LAYARD_TRY(reader.read(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace layard
