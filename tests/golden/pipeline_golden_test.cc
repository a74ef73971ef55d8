// Goal: every recorded case gives upstream's rows, logits, answers and errors.
#include <gtest/gtest.h>

#include <sstream>

#include "pipeline_check.h"

namespace layard::golden {
namespace {

TEST(Golden, AllCases) {
  LAYARD_REQUIRE_SHARED(shared);
  std::size_t cases = 0;
  for (const char* name : kNames) {
    const auto model = open_model(folder_of(shared, name), "", 2);
    ASSERT_NE(model, nullptr);
    Checker checker(*model, name);
    for (const GoldenCase& golden :
         read_cases(shared / "goldens" / (std::string(name) + ".jsonl"))) {
      checker.check(golden);
    }
    EXPECT_LE(checker.edges(), kEdgesMax) << name;
    cases += checker.cases();
  }
  EXPECT_EQ(cases, 668U);
}

// Long texts read in windows: upstream's predict_long with its default window.
TEST(Golden, Windows) {
  LAYARD_REQUIRE_SHARED(shared);
  PredictOptions windows;
  windows.overflow = OverflowPolicy::kWindows;
  for (const std::string name : {"english", "multilingual"}) {
    const auto model = open_model(shared / "goldens/checkpoints" / name, "", 2);
    ASSERT_NE(model, nullptr);
    std::istringstream lines(read_text(shared / "goldens" / ("more-" + name + ".jsonl")));
    std::size_t checked = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto json = base::parse_json(line, {});
      ASSERT_TRUE(json.ok());
      if (json->find("function")->text() != "predict_long" || json->find("options")->size() > 0) {
        continue;
      }
      ++checked;
      const auto state = parse_state(text(*json->find("state")));
      const auto questions = parse_questions(text(*json->find("questions")), {});
      ASSERT_TRUE(state.ok() && questions.ok());
      const auto prediction = model->predict(*state, *questions, windows);
      ASSERT_TRUE(prediction.ok()) << prediction.error().message;
      const auto got = base::parse_json(print_answers(prediction->answers, {}), {});
      for (const char* key : {"answers", "usage"}) {
        EXPECT_TRUE(same_but_for_last_digit(*got->find(key), *json->find("response")->find(key)))
            << name << "/" << json->find("name")->text() << " " << key;
      }
    }
    EXPECT_EQ(checked, 5U) << name;
  }
}

// The starter against what upstream's package answers with the same weights; needs no other files.
TEST(Golden, Starter) {
  const std::filesystem::path folder = std::string(LAYARD_SOURCE_DIR) + "/models/starter";
  const auto model = open_model(folder, "", 2);
  ASSERT_NE(model, nullptr);
  Checker checker(*model, "starter");
  for (const GoldenCase& golden : read_cases(folder / "goldens.jsonl")) checker.check(golden);
  EXPECT_GT(checker.cases(), 130U);
  EXPECT_LE(checker.edges(), kEdgesMax);
}

// All 24 orders of four options: the choice is upstream's each time.
TEST(Golden, AllPermutations) {
  const std::filesystem::path folder = std::string(LAYARD_SOURCE_DIR) + "/models/starter";
  const auto model = open_model(folder, "", 1);
  ASSERT_NE(model, nullptr);
  std::size_t orders = 0;
  for (const GoldenCase& golden : read_cases(folder / "goldens.jsonl")) {
    if (!golden.name.starts_with("order-")) continue;
    ++orders;
    const auto found = model->predict(*parse_state(text(golden.state)),
                                      *parse_questions(text(golden.questions), {}), {});
    ASSERT_TRUE(found.ok());
    const auto& answer = std::get<ChoiceAnswer>(found->answers.answers[0].value);
    EXPECT_EQ(answer.choice.key, golden.response.find("answers")->find("q")->find("choice")->text())
        << golden.name;
  }
  EXPECT_EQ(orders, 24U);
}

}  // namespace
}  // namespace layard::golden
