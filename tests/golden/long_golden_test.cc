// Goal: the longer recorded runs, texts in windows and all of the starter, give upstream's answers.
#include <gtest/gtest.h>

#include <sstream>

#include "pipeline_check.h"

namespace layard::golden {
namespace {

// Long texts read in windows: upstream's predict_long with its default window.
TEST(Golden, Windows) {
  LAYARD_REQUIRE_SHARED(shared);
  PredictOptions windows;
  windows.overflow = OverflowPolicy::kWindows;
  for (const std::string name : {"english", "multilingual"}) {
    const auto model = open_model(shared / "goldens/checkpoints" / name, "", 1);
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
  const auto model = open_model(folder, "", 1);
  ASSERT_NE(model, nullptr);
  Checker checker(*model, "starter");
  for (const GoldenCase& golden : read_cases(folder / "goldens.jsonl")) checker.check(golden);
  EXPECT_GT(checker.cases(), 130U);
  EXPECT_LE(checker.edges(), kEdgesMax);
}

}  // namespace
}  // namespace layard::golden
