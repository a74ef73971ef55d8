// Goal: every recorded case gives upstream's rows, logits, answers and errors.
#include <gtest/gtest.h>

#include "pipeline_check.h"

namespace layard::golden {
namespace {

// One thread: tests run beside each other, and GoldenPerIsa compares thread counts bit by bit.
void check_cases(const char* name, std::size_t count) {
  LAYARD_REQUIRE_SHARED(shared);
  const auto model = open_model(folder_of(shared, name), "", 1);
  ASSERT_NE(model, nullptr);
  Checker checker(*model, name);
  for (const GoldenCase& golden : read_cases(shared / "goldens" / (std::string(name) + ".jsonl"))) {
    checker.check(golden);
  }
  EXPECT_LE(checker.edges(), kEdgesMax);
  EXPECT_EQ(checker.cases(), count);
}

TEST(GoldenCases, English) { check_cases("english", 157); }
TEST(GoldenCases, Multilingual) { check_cases("multilingual", 157); }
TEST(GoldenCases, Typed) { check_cases("typed", 157); }
TEST(GoldenCases, Bert) { check_cases("bert", 157); }
TEST(GoldenCases, Parallel) { check_cases("parallel", 40); }

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
