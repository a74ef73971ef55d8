// Goal: the generated tickets are those of the published generator, word for word.
#include "runtime/workload.h"

#include <gtest/gtest.h>

#include "layard/benchmark.h"

namespace layard::runtime {
namespace {

// Source: sentences published with laya-apple 1.7.0's workload.
TEST(Workload, SentencesBySeed) {
  TicketWords zero(0);
  EXPECT_EQ(zero.sentence(),
            "The renewal 7311 cannot log in twice this month. I would like an explanation.");
  EXPECT_EQ(
      zero.sentence(),
      "The payment 8961 cannot log in on the annual plan. Otherwise we will cancel the plan.");
  TicketWords eleven(11);
  EXPECT_EQ(eleven.sentence(),
            "The order 8629 cannot log in despite the earlier ticket. Please confirm once it is "
            "fixed.");
  EXPECT_EQ(TicketWords(13).sentence(),
            "The account 5763 saw a delay without any notice. Can someone look into this today?");
}

TEST(Workload, WordsAreTheSentencesWords) {
  TicketWords words(0);
  std::string text = words.next();
  for (int i = 1; i < 14; ++i) text += " " + words.next();
  EXPECT_EQ(text, "The renewal 7311 cannot log in twice this month. I would like an explanation.");
  EXPECT_EQ(words.next(), "The");
}

TEST(Workload, QuestionsTurnWithTheSeed) {
  const QuestionSet questions = workload_questions(9, 5);
  ASSERT_EQ(questions.questions.size(), 9U);
  EXPECT_EQ(questions.questions[0].id, "q0");
  EXPECT_EQ(questions.questions[0].type, QuestionType::kScore);  // the sixth of the pool
  EXPECT_EQ(questions.questions[1].type, QuestionType::kNoul);
  EXPECT_EQ(questions.questions[2].type, QuestionType::kChoice);  // the first again
}

}  // namespace
}  // namespace layard::runtime
