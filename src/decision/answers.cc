#include "decision/answers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "base/checks.h"
#include "base/python_number.h"
#include "decision/numpy_math.h"
#include "decision/python_text.h"

namespace layard::decision {
namespace {

using base::python_round4;

Error failed(const Question& question, const std::string& what) {
  return {ErrorCode::kInternal,
          "inference failed: question " + python_repr(question.id) + ": " + what};
}

// Where the calibration has measured what such a probability is worth, that stands for it.
void calibrate_confidence(const Question& question, std::span<const float> p,
                          const Calibration& calibration, Answer& answer) {
  const auto largest = static_cast<double>(*std::max_element(p.begin(), p.end()));
  const double confidence = calibration.answer_confidence(question.type, p.size(), largest);
  if (confidence == largest) return;  // as it is without
  std::visit([&](auto& value) { value.answer_confidence = python_round4(confidence); },
             answer.value);
}

double clip_unit(double value) { return std::clamp(value, 0.0, 1.0); }

// max(p): the probability of the answer that is reported.
double answer_confidence(std::span<const float> p) {
  return python_round4(clip_unit(static_cast<double>(*std::max_element(p.begin(), p.end()))));
}

// 1 - H(p)/ln k: products and their sum in float32, the rest in double; 1 below two options.
double entropy_confidence(std::span<const float> p) {
  if (p.size() < 2) return 1.0;
  std::vector<float> terms(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    terms[i] = p[i] * numpy_log(std::clamp(p[i], 1e-12F, 1.0F));
  }
  const double entropy = -static_cast<double>(numpy_sum(std::span<const float>(terms)));
  return python_round4(clip_unit(1.0 - entropy / std::log(static_cast<double>(p.size()))));
}

ChoiceAnswer decode_choice(const Question& question, std::span<const float> p) {
  const auto best = std::max_element(p.begin(), p.end()) - p.begin();  // the first of equals
  ChoiceAnswer answer;
  answer.choice = question.labels[static_cast<std::size_t>(best)];
  answer.probabilities.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    answer.probabilities.push_back(
        {question.labels[i].key, python_round4(static_cast<double>(p[i]))});
  }
  answer.confidence = entropy_confidence(p);
  answer.answer_confidence = answer_confidence(p);
  return answer;
}

ScoreAnswer decode_score(const Question& question, std::span<const float> p) {
  ScoreAnswer answer;
  std::vector<double> terms(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto probability = static_cast<double>(p[i]);
    terms[i] = static_cast<double>(i) * probability;
    answer.probabilities.push_back(python_round4(probability));
  }
  answer.score = python_round4(numpy_sum(std::span<const double>(terms)));
  answer.legend = question.levels;
  answer.confidence = entropy_confidence(p);
  answer.answer_confidence = answer_confidence(p);
  return answer;
}

NoulAnswer decode_noul(std::span<const float> p) {
  const auto yes = static_cast<double>(p[1]);
  return {python_round4(yes), python_round4(std::max(yes, 1.0 - yes)), answer_confidence(p)};
}

}  // namespace

std::vector<float> act_softmax(std::span<const float> act_logits) {
  std::vector<float> p(act_logits.begin(), act_logits.end());
  if (p.empty()) return p;
  const float largest = *std::max_element(p.begin(), p.end());
  float sum = 0;
  for (float& value : p) {
    value = static_cast<float>(std::exp(static_cast<double>(value - largest)));
    sum += value;
  }
  for (float& value : p) value /= sum;
  return p;
}

Result<std::vector<float>> option_probabilities(const Question& question,
                                                std::span<const float> logits,
                                                const Calibration& calibration) {
  const std::size_t k = logits.size();
  if (k == 0 || k != question.options.size()) {
    return failed(question, "the model returned " + std::to_string(k) + " logits for " +
                                std::to_string(question.options.size()) + " options");
  }
  // NumPy divides a float32 array by a Python float in float32.
  const auto divisor = static_cast<float>(calibration.temperature(question.type, k));
  std::vector<float> p(k);
  for (std::size_t i = 0; i < k; ++i) {
    p[i] = logits[i] / divisor;
    if (!std::isfinite(p[i])) {
      return failed(question, "the logit of option slot " + std::to_string(i) +
                                  " is not finite; the weights or the device are faulty");
    }
  }
  const float largest = *std::max_element(p.begin(), p.end());
  for (float& value : p) value = numpy_exp(value - largest);
  const float sum = numpy_sum(std::span<const float>(p));
  for (float& value : p) value /= sum;
  if (question.option_order.empty()) return p;
  std::vector<float> by_label(k);
  for (std::size_t slot = 0; slot < k; ++slot) by_label[question.option_order[slot]] = p[slot];
  return by_label;
}

Result<std::vector<float>> row_probabilities(const Question& question, const RowScores& scores,
                                             const Calibration& calibration) {
  LAYARD_ASSIGN(std::vector<float> p, option_probabilities(question, scores.logits, calibration));
  if (!std::isfinite(scores.act_probability)) {
    return failed(question,
                  "the act probability is not finite; the weights or the device are "
                  "faulty");
  }
  return p;
}

Answer make_answer(const Question& question, std::span<const float> p, double act_probability,
                   const Calibration& calibration) {
  LAYARD_CHECK(!p.empty() && p.size() == question.options.size());
  Answer answer;
  answer.id = question.id;
  answer.act_probability = python_round4(act_probability);
  switch (question.type) {
    case QuestionType::kChoice:
      answer.value = decode_choice(question, p);
      break;
    case QuestionType::kScore:
      answer.value = decode_score(question, p);
      break;
    case QuestionType::kNoul:
      answer.value = decode_noul(p);
      break;
  }
  calibrate_confidence(question, p, calibration, answer);
  return answer;
}

Result<Answer> decode_answer(const Question& question, const RowScores& scores,
                             const Calibration& calibration) {
  LAYARD_ASSIGN(const std::vector<float> p, row_probabilities(question, scores, calibration));
  return make_answer(question, p, static_cast<double>(scores.act_probability), calibration);
}

Usage count_usage(const QuestionSet& questions, std::span<const PromptRow> rows) {
  Usage usage;
  if (rows.empty()) return usage;
  LAYARD_CHECK(rows.size() == questions.questions.size());
  usage.ran = true;
  usage.state_tokens = static_cast<std::int64_t>(rows.front().stats.state_tokens);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PromptStats& stats = rows[i].stats;
    const std::string& id = questions.questions[i].id;
    usage.input_tokens += static_cast<std::int64_t>(rows[i].ids.size());
    usage.state_tokens_dropped = std::max(usage.state_tokens_dropped,
                                          static_cast<std::int64_t>(stats.state_tokens_dropped()));
    if (stats.truncated()) usage.truncated_questions.push_back(id);
    if (stats.options_distinct < stats.options) {
      CollapsedOptions collapsed;
      collapsed.question = id;
      collapsed.total = static_cast<std::int64_t>(stats.options);
      collapsed.distinct = static_cast<std::int64_t>(stats.options_distinct);
      if (stats.tokens_per_option) {
        collapsed.tokens_per_option = static_cast<std::int64_t>(*stats.tokens_per_option);
      }
      usage.options.push_back(std::move(collapsed));
    }
  }
  usage.truncated = usage.state_tokens_dropped > 0 ? 1 : 0;
  return usage;
}

Result<AnswerSet> decode_answers(const QuestionSet& questions, std::span<const PromptRow> rows,
                                 std::span<const RowScores> scores,
                                 const Calibration& calibration) {
  LAYARD_CHECK(rows.size() == questions.questions.size() && scores.size() == rows.size());
  AnswerSet result;
  result.answers.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LAYARD_ASSIGN(Answer answer, decode_answer(questions.questions[i], scores[i], calibration));
    result.answers.push_back(std::move(answer));
  }
  result.usage = count_usage(questions, rows);
  return result;
}

}  // namespace layard::decision
