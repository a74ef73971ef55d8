#include <gtest/gtest.h>

#include "layard/question.h"

namespace layard {
namespace {

TEST(QuestionNames, RoundTrip) {
  for (const auto type : {QuestionType::kChoice, QuestionType::kScore, QuestionType::kNoul}) {
    EXPECT_EQ(question_type_from_string(to_string(type)), type);
  }
  for (const auto policy :
       {OverflowPolicy::kCut, OverflowPolicy::kError, OverflowPolicy::kWindows}) {
    EXPECT_EQ(overflow_policy_from_string(to_string(policy)), policy);
  }
}

TEST(QuestionNames, MatchExactly) {
  for (const char* name : {"", "Choice", "noul ", "bool", "Noul"}) {
    EXPECT_FALSE(question_type_from_string(name)) << name;
  }
  EXPECT_EQ(to_string(QuestionType::kNoul), "noul");
  EXPECT_FALSE(overflow_policy_from_string("Cut"));
}

}  // namespace
}  // namespace layard
