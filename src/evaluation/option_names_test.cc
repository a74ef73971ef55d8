#include "evaluation/option_names.h"

#include <gtest/gtest.h>

namespace layard::evaluation {
namespace {

TEST(OptionNames, AsProbabilitiesAreKeyed) {
  const auto set = parse_questions(
      R"({"c": {"type": "choice", "instructions": "?", "criteria": ["a", true]},)"
      R"( "s": {"type": "score", "instructions": "?", "criteria": ["low", "high"]},)"
      R"( "n": {"type": "noul", "instructions": "?", "labels": {"false": "no", "true": "yes"}}})",
      {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  const auto check = [&](std::size_t question, const std::string& first, const std::string& last) {
    EXPECT_EQ(option_name(set->questions[question], 0), first);
    EXPECT_EQ(option_name(set->questions[question], 1), last);
  };
  check(0, "a", "true");
  check(1, "0", "1");
  check(2, "false", "true");
}

}  // namespace
}  // namespace layard::evaluation
