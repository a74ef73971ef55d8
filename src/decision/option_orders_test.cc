#include "decision/option_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace layard::decision {
namespace {

using Order = std::vector<std::uint32_t>;
using Orders = std::vector<Order>;

QuestionSet questions(const std::string& json) {
  auto set = parse_questions(json, {});
  EXPECT_TRUE(set.ok()) << json;
  return set.ok() ? *set : QuestionSet{};
}

Question choice_of(std::size_t options, const std::string& more = "") {
  std::string labels;
  for (std::size_t i = 0; i < options; ++i) {
    labels += (i == 0 ? "\"l" : ",\"l") + std::to_string(i) + "\"";
  }
  return questions(R"({"q":{"type":"choice","instructions":"x","criteria":[)" + labels + "]" +
                   more + "}}")
      .questions.at(0);
}

TEST(OptionOrders, AsGivenThenReversed) {
  EXPECT_EQ(option_orders(choice_of(3), 1), (Orders{{0, 1, 2}}));
  EXPECT_EQ(option_orders(choice_of(3), 2), (Orders{{0, 1, 2}, {2, 1, 0}}));
  // An order of its own comes first.
  EXPECT_EQ(option_orders(choice_of(3, R"(,"option_order":[2,0,1])"), 2),
            (Orders{{2, 0, 1}, {1, 0, 2}}));
}

TEST(OptionOrders, OnlyChoicesAreTurned) {
  const auto set = questions(
      R"({"s":{"type":"score","instructions":"x","criteria":["a","b","c"],"option_order":[1,0,2]},
          "n":{"type":"noul","instructions":"x"},
          "one":{"type":"choice","instructions":"x","criteria":["only"]}})");
  EXPECT_EQ(option_orders(set.questions[0], 8), (Orders{{1, 0, 2}}));
  EXPECT_EQ(option_orders(set.questions[1], 8), (Orders{{0, 1}}));
  EXPECT_EQ(option_orders(set.questions[2], 8), (Orders{{0}}));
}

TEST(OptionOrders, AllAreDistinctPermutations) {
  for (const std::size_t options : {2U, 3U, 4U, 5U, 40U}) {
    const std::size_t there_are = options == 2 ? 2 : options == 3 ? 6 : 24;
    for (int wanted = 1; wanted <= kOrdersMax; ++wanted) {
      const Orders orders = option_orders(choice_of(options), wanted);
      EXPECT_EQ(orders.size(), std::min<std::size_t>(there_are, static_cast<std::size_t>(wanted)));
      EXPECT_EQ(std::set(orders.begin(), orders.end()).size(), orders.size());
      for (Order order : orders) {
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < options; ++i) ASSERT_EQ(order.at(i), i);
      }
    }
  }
}

TEST(OptionOrders, FollowFromTheQuestionsTexts) {
  const Question question = choice_of(9);
  const Orders orders = option_orders(question, 12);
  Question renamed = question;
  renamed.id = "another name";
  EXPECT_EQ(option_orders(renamed, 12), orders);
  // Fewer are the first of more.
  const Orders fewer = option_orders(question, 5);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), orders.begin()));
  Question reworded = question;
  reworded.instructions = "y";
  EXPECT_NE(option_orders(reworded, 12), orders);
  Question another = question;
  another.options[3] = "l3: described";
  EXPECT_NE(option_orders(another, 12), orders);
  // Written down, so that no change of the seed goes unseen: Python's Random(first 8 bytes of the
  // SHA-256), swapping down from the last place.
  EXPECT_EQ(orders[2], (Order{8, 7, 5, 6, 2, 3, 4, 0, 1}));
}

TEST(OptionOrders, QuestionsBesideTheirOrders) {
  const auto set = questions(
      R"({"a":{"type":"choice","instructions":"x","criteria":["p","q"]},
          "n":{"type":"noul","instructions":"x"},
          "b":{"type":"choice","instructions":"x","criteria":["p","q","r"]}})");
  EXPECT_TRUE(in_orders(set, 1).empty());
  const OrderedQuestions ordered = in_orders(set, 3);
  EXPECT_EQ(ordered.counts, (std::vector<std::size_t>{2, 1, 3}));
  ASSERT_EQ(ordered.asked.questions.size(), 6U);
  EXPECT_EQ(ordered.asked.questions[0].option_order, (Order{0, 1}));
  EXPECT_EQ(ordered.asked.questions[1].option_order, (Order{1, 0}));
  EXPECT_EQ(ordered.asked.questions[2], set.questions[1]);
  EXPECT_EQ(ordered.asked.questions[4].option_order, (Order{2, 1, 0}));
  EXPECT_EQ(ordered.asked.questions[4].id, "b");
}

// Rows that a tokenizer would have made: the counts are all that usage reads.
std::vector<PromptRow> rows_of(const OrderedQuestions& ordered) {
  std::vector<PromptRow> rows;
  for (const Question& question : ordered.asked.questions) {
    PromptRow row;
    row.ids.resize(10);
    row.type = question.type;
    row.stats.options = question.options.size();
    row.stats.options_distinct = question.options.size() - 1;
    row.stats.state_tokens = 7;
    row.stats.state_tokens_used = 4;
    rows.push_back(row);
  }
  return rows;
}

TEST(OptionOrders, TheMeanOfProbabilitiesIsTheAnswer) {
  const auto set = questions(
      R"({"c":{"type":"choice","instructions":"x","criteria":["a","b","c"]},
          "n":{"type":"noul","instructions":"x"}})");
  const OrderedQuestions ordered = in_orders(set, 2);
  // Reversed, the slots hold c, b, a.
  const std::vector<std::vector<float>> logits = {{2, 1, 0}, {3, 0, 0}, {0, 1}};
  const std::vector<RowScores> scores = {{logits[0], 0.5F}, {logits[1], 0.75F}, {logits[2], 1.0F}};
  const auto found = decode_orders(set, ordered, rows_of(ordered), scores, {});
  ASSERT_TRUE(found.ok()) << found.error().message;

  const auto forward = *option_probabilities(ordered.asked.questions[0], logits[0], {});
  const auto reversed = *option_probabilities(ordered.asked.questions[1], logits[1], {});
  const auto& answer = std::get<ChoiceAnswer>(found->answers[0].value);
  ASSERT_EQ(answer.probabilities.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const double mean = (static_cast<double>(forward[i]) + static_cast<double>(reversed[i])) / 2;
    EXPECT_NEAR(answer.probabilities[i].probability, mean, 0.5e-4 + 1e-9) << i;
  }
  EXPECT_EQ(answer.choice.key, "c");  // 0.09 and 0.909 against a's 0.665 and 0.045
  EXPECT_EQ(found->answers[0].act_probability, 0.625);
  EXPECT_EQ(found->answers[1], *decode_answer(set.questions[1], scores[2], {}));

  ASSERT_EQ(found->stability.size(), 2U);
  const OrderStability& stability = found->stability[0];
  EXPECT_EQ(stability.question, "c");
  EXPECT_EQ(stability.orders, 2);
  ASSERT_EQ(stability.choices.size(), 2U);
  EXPECT_EQ(stability.choices[0].key, "a");
  EXPECT_EQ(stability.choices[1].key, "c");
  EXPECT_EQ(stability.agreement, 0.5);
  EXPECT_NEAR(stability.spread, static_cast<double>(reversed[2]) - static_cast<double>(forward[2]),
              0.5e-4);
  EXPECT_EQ(found->stability[1], (OrderStability{"n", 1, {}, 1, 0}));

  EXPECT_EQ(found->usage.input_tokens, 30);
  EXPECT_EQ(found->usage.state_tokens, 7);
  EXPECT_EQ(found->usage.truncated_questions, (std::vector<std::string>{"c", "n"}));
  ASSERT_EQ(found->usage.options.size(), 2U);
  EXPECT_EQ(found->usage.options[0].question, "c");
}

// Equal in all orders: the mean is each of them, bit for bit.
TEST(OptionOrders, OrdersThatAgreeChangeNothing) {
  const auto set =
      questions(R"({"c":{"type":"choice","instructions":"x","criteria":["a","b","c"]}})");
  const OrderedQuestions ordered = in_orders(set, 2);
  const std::vector<std::vector<float>> logits = {{0.3F, 1.7F, -0.2F}, {-0.2F, 1.7F, 0.3F}};
  const std::vector<RowScores> scores = {{logits[0], 0.5F}, {logits[1], 0.5F}};
  const auto found = decode_orders(set, ordered, rows_of(ordered), scores, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->answers[0], *decode_answer(set.questions[0], scores[0], {}));
  EXPECT_EQ(found->stability[0].agreement, 1);
  EXPECT_EQ(found->stability[0].spread, 0);
}

TEST(OptionOrders, ABrokenRowIsAnError) {
  const auto set = questions(R"({"c":{"type":"choice","instructions":"x","criteria":["a","b"]}})");
  const OrderedQuestions ordered = in_orders(set, 2);
  const std::vector<float> good = {0, 1};
  const std::vector<float> bad = {0, NAN};
  for (const auto& scores : {std::vector<RowScores>{{good, 0.5F}, {bad, 0.5F}},
                             std::vector<RowScores>{{good, 0.5F}, {good, NAN}}}) {
    const auto found = decode_orders(set, ordered, rows_of(ordered), scores, {});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::kInternal);
    EXPECT_NE(found.error().message.find("question 'c'"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::decision
