#include "evaluation/ask.h"

#include "evaluation/judge.h"
#include "support/tiny_model.h"

namespace layard::evaluation {
namespace {

class Ask : public testing::TinyModel {
 protected:
  static std::vector<EvaluationCase> cases(std::size_t lines) {
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) {
      text += R"({"state": "text )" + std::to_string(i) +
              R"(", "questions": {"c": {"type": "choice", "instructions": "Which?",)"
              R"( "criteria": ["one", "two", "three"]}, "s": {"type": "score",)"
              R"( "instructions": "How?", "criteria": ["low", "high"]},)"
              R"( "o": {"type": "choice", "instructions": "Which?", "criteria": ["only"]}},)"
              R"( "expected": {"c": "two", "s": 1, "o": "only"}})"
              "\n";
    }
    auto out = parse_evaluation_cases(text, "");
    EXPECT_TRUE(out.ok()) << out.error().message;
    return *std::move(out);
  }

  AskedCases ask(const std::vector<EvaluationCase>& cases, bool reverse) {
    const auto engine = runtime::Engine::open(options());
    auto found = ask_cases(**engine, cases, reverse, [this](std::size_t a, std::size_t b) {
      EXPECT_LE(a, b);
      done_ = a == b;
    });
    EXPECT_TRUE(found.ok()) << found.error().message;
    return *std::move(found);
  }

  bool done_ = false;
};

TEST_F(Ask, AnswersAreThoseOfPredict) {
  const auto lines = cases(40);  // more than one batch
  const AskedCases asked = ask(lines, false);
  EXPECT_TRUE(done_);
  ASSERT_EQ(asked.questions.size(), 120U);
  const auto model = open();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = model->predict(lines[i].state, lines[i].questions, {});
    const auto& choice = std::get<ChoiceAnswer>(found->answers.answers[0].value);
    const AskedQuestion& question = asked.questions[3 * i];
    EXPECT_EQ(question.at_case, i);
    EXPECT_EQ(question.at_question, 0U);
    EXPECT_EQ(lines[i].questions.questions[0].labels[question.picked], choice.choice);
    EXPECT_EQ(question.confidence, choice.answer_confidence);
    const auto log_p = log_probabilities(question.logits, question.temperature);
    for (std::size_t o = 0; o < 3; ++o) {
      EXPECT_NEAR(std::exp(log_p[o]), choice.probabilities[o].probability, 1e-4);
    }
    const auto& score = std::get<ScoreAnswer>(found->answers.answers[1].value);
    EXPECT_EQ(asked.questions[3 * i + 1].score, score.score);
    EXPECT_FALSE(question.shown_reversed);
  }
}

TEST_F(Ask, OnlyChoicesWithAnOrderAreReversed) {
  const auto lines = cases(3);
  const AskedCases asked = ask(lines, true);
  EXPECT_TRUE(done_);
  const auto model = open();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(asked.questions[3 * i].shown_reversed);
    EXPECT_FALSE(asked.questions[3 * i + 1].shown_reversed) << "levels have an order of their own";
    EXPECT_FALSE(asked.questions[3 * i + 2].shown_reversed) << "one option has one order";
    // The same as asking with the options written the other way round.
    const auto reversed = parse_questions(R"({"c": {"type": "choice", "instructions": "Which?",)"
                                          R"( "criteria": ["three", "two", "one"]}})",
                                          {});
    const auto found = model->predict(lines[i].state, *reversed, {});
    const auto& choice = std::get<ChoiceAnswer>(found->answers.answers[0].value);
    const AskedQuestion& question = asked.questions[3 * i];
    const auto& straight = lines[i].questions.questions[0].labels[question.picked];
    EXPECT_EQ(question.flipped, straight != choice.choice);
  }
}

TEST_F(Ask, LogitsAreInLabelOrder) {
  auto lines = cases(1);
  const AskedCases straight = ask(lines, false);
  lines[0].questions.questions[0].option_order = {2, 0, 1};
  const AskedCases ordered = ask(lines, false);
  const auto model = open();
  PredictOptions raw;
  raw.raw = true;
  const auto found = model->predict(lines[0].state, lines[0].questions, raw);
  const std::vector<float>& slots = found->rows[0].logits;
  EXPECT_EQ(ordered.questions[0].logits, (std::vector<double>{slots[1], slots[2], slots[0]}));
  EXPECT_EQ(straight.questions[0].logits.size(), 3U);
}

TEST_F(Ask, CutTextsAreCounted) {
  auto lines = cases(2);
  for (int i = 0; i < 500; ++i) lines[1].state.text += " word";
  EXPECT_EQ(ask(lines, false).truncated, 1U);
}

TEST_F(Ask, ErrorsNameTheLine) {
  auto lines = cases(1);
  lines[0].line = 7;
  // More options than a row has room for.
  Question& question = lines[0].questions.questions[0];
  for (int i = 0; i < 400; ++i) {
    question.options.push_back("option " + std::to_string(i));
    question.labels.push_back({std::to_string(i), std::to_string(i), std::to_string(i)});
  }
  const auto engine = runtime::Engine::open(options());
  const auto found = ask_cases(**engine, lines, false, {});
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().message.starts_with("line 7: ")) << found.error().message;
}

}  // namespace
}  // namespace layard::evaluation
