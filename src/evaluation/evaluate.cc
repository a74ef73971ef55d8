// One evaluation from opening the model to its numbers.
#include <algorithm>

#include "evaluation/ask.h"
#include "evaluation/groups.h"
#include "evaluation/judge.h"
#include "evaluation/option_names.h"
#include "layard/evaluation.h"
#include "runtime/engine.h"

namespace layard {
namespace {

using evaluation::AskedCases;
using evaluation::AskedQuestion;
using evaluation::Judgement;

constexpr std::size_t kAbstentionSteps = 50;

// The start of a text, ended between two characters.
std::string start_of(const std::string& text) {
  if (text.size() <= kMistakeTextBytes) return text;
  std::size_t end = kMistakeTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::vector<Mistake> find_mistakes(std::span<const EvaluationCase> cases,
                                   std::span<const AskedQuestion> asked,
                                   std::span<const Judgement> judgements) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!judgements[i].right) wrong.push_back(i);
  }
  // Of equally confident ones the first in the file.
  std::ranges::stable_sort(wrong, std::greater(),
                           [&](std::size_t i) { return asked[i].confidence; });
  wrong.resize(std::min(wrong.size(), kMistakesMax));
  std::vector<Mistake> out;
  for (const std::size_t i : wrong) {
    const EvaluationCase& one = cases[asked[i].at_case];
    const Question& question = one.questions.questions[asked[i].at_question];
    const Target& target = one.targets[asked[i].at_question];
    Mistake mistake;
    mistake.line = one.line;
    mistake.question = question.id;
    mistake.expected = evaluation::option_name(question, evaluation::expected_option(target));
    mistake.answered = evaluation::option_name(question, asked[i].picked);
    mistake.confidence = asked[i].confidence;
    mistake.text = start_of(one.state.text);
    out.push_back(std::move(mistake));
  }
  return out;
}

Evaluation sum_up(std::span<const EvaluationCase> cases, const AskedCases& asked) {
  std::vector<Judgement> judgements;
  judgements.reserve(asked.questions.size());
  for (const AskedQuestion& question : asked.questions) {
    judgements.push_back(
        evaluation::judge(question, cases[question.at_case].targets[question.at_question]));
  }
  evaluation::Groups groups = evaluation::group_questions(cases, asked.questions, judgements);
  Evaluation out;
  out.cases = cases.size();
  out.truncated = asked.truncated;
  out.all = std::move(groups.all);
  out.types = std::move(groups.types);
  out.buckets = std::move(groups.buckets);
  out.sources = std::move(groups.sources);
  out.abstention = abstention_curve(groups.answers, kAbstentionSteps);
  out.mistakes = find_mistakes(cases, asked.questions, judgements);
  if (!asked.questions.empty()) {
    out.ms_per_question = asked.ask_ms / static_cast<double>(asked.questions.size());
  }
  return out;
}

}  // namespace

Result<Evaluation> evaluate(const ModelOptions& model, std::span<const EvaluationCase> cases,
                            const EvaluationOptions& options,
                            const std::function<void(std::size_t, std::size_t)>& progress) {
  LAYARD_ASSIGN(const auto engine, runtime::Engine::open(model));
  LAYARD_ASSIGN(const AskedCases asked,
                evaluation::ask_cases(*engine, cases, options.reverse, progress));
  Evaluation out = sum_up(cases, asked);
  LAYARD_ASSIGN(const runtime::LoadedModel* loaded, engine->ensure_loaded());
  out.model = loaded->identity().name;
  out.revision = loaded->identity().revision;
  out.weights_sha256 = loaded->identity().weights_sha256;
  out.dtype = loaded->dtype();
  out.calibration = model.calibration_file;
  return out;
}

}  // namespace layard
