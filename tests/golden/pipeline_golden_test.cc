// Goal: every recorded case gives upstream's rows, logits, answers and errors.
#include <gtest/gtest.h>

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

// The starter against what upstream's package answers with the same weights; needs no other files.
TEST(Golden, Starter) {
  const std::filesystem::path folder = std::string(LAYARD_SOURCE_DIR) + "/models/starter";
  const auto model = open_model(folder, "", 2);
  ASSERT_NE(model, nullptr);
  Checker checker(*model, "starter");
  for (const GoldenCase& golden : read_cases(folder / "goldens.jsonl")) checker.check(golden);
  EXPECT_GT(checker.cases(), 60U);
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
