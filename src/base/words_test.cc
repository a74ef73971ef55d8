#include "layard/words.h"

#include <gtest/gtest.h>

#include <vector>

namespace layard {
namespace {

TEST(Words, ShellQuoted) {
  const auto check = [](std::string_view word, std::string_view expected) {
    EXPECT_EQ(shell_quoted(word), expected) << word;
  };
  check("laya", "laya");
  check("/models/a-b_c.1,2=3:4@5%6+7", "/models/a-b_c.1,2=3:4@5%6+7");
  check("", "''");
  check("/my models/a", "'/my models/a'");
  check("it's", "'it'\\''s'");
  check("$(x)", "'$(x)'");
  check("~/a", "'~/a'");
  check("a\nb", "'a\nb'");
  check("größe", "'größe'");
}

TEST(Words, ClosestName) {
  const std::vector<std::string> names = {"predict", "parity", "info",   "cache",
                                          "laya",    "typed",  "starter"};
  const auto check = [&](std::string_view word, std::string_view expected) {
    EXPECT_EQ(closest_name(word, names).value_or(""), expected) << word;
  };
  check("predictt", "predict");
  check("pedrict", "predict");  // two letters changed places
  check("preddictt", "predict");
  check("prd", "");  // four letters missing of a word of three
  check("INFOO", "info");
  check("lyaa", "laya");
  check("lya", "laya");
  check("aly", "");  // two slips in a short word
  check("l", "");
  check("", "");
  check("cahce", "cache");
  check("startre", "starter");
  check("stxrtxr", "starter");
  check("sxxrtxr", "");  // three slips in seven letters
  check("tokenizer", "");
  check(std::string(65, 'a'), "");
  EXPECT_EQ(closest_name("ab", std::vector<std::string>{"ax", "ay"}).value_or(""), "ax");
  EXPECT_EQ(closest_name("abcdefgh", std::vector<std::string>{"abcdefxx", "abcdefgx"}).value_or(""),
            "abcdefgx");
  EXPECT_FALSE(closest_name("ab", {}).has_value());
}

TEST(Words, ClosestNameOfOneSlip) {
  const std::vector<std::string> names = {"criteria", "option_order"};
  EXPECT_EQ(closest_name("criterias", names, 1).value_or(""), "criteria");
  EXPECT_EQ(closest_name("Criteria", names, 1).value_or(""), "criteria");
  EXPECT_FALSE(closest_name("criterion", names, 1).has_value());
  EXPECT_EQ(closest_name("option_ordre", names, 1).value_or(""), "option_order");
  EXPECT_FALSE(closest_name("options_ordre", names, 1).has_value());
}

TEST(Words, DidYouMean) {
  const std::vector<std::string> names = {"laya"};
  EXPECT_EQ(did_you_mean("lyaa", names), " (did you mean 'laya'?)");
  EXPECT_EQ(did_you_mean("other", names), "");
}

}  // namespace
}  // namespace layard
