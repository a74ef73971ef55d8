#include "gateway/derive_words.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(DeriveWords, Times) {
  EXPECT_EQ(time_words(0.04), "0.0 ms");
  EXPECT_EQ(time_words(-31), "-31.0 ms");
  EXPECT_EQ(time_words(331.5), "331.5 ms");
  EXPECT_EQ(time_words(-1933), "-1.933 s");
  EXPECT_EQ(time_words(15080), "15.1 s");
}

DerivedRow faster_row() {
  DerivedRow row;
  row.class_name = "short";
  row.other = "b";
  row.gain = {331, 325, 338};
  row.prompts = 24;
  row.default_ms = 1000;
  row.size = {20, 0, 17};
  row.default_speed = {80, 300, 17.8, 0};
  row.other_speed = {80, 300, 28.2, 0};
  row.other_bytes = 16e9;
  row.break_even_output = 24.13;
  return row;
}

// What each verdict says.
TEST(DeriveWords, EveryVerdict) {
  Derivation derivation;
  derivation.default_device = "a";
  derivation.decision_ms = 500;
  derivation.asking_ms = 375;
  derivation.asked_gain = {-292, -300, -280};
  DeriveOptions options;
  options.memory_budget_bytes = 32e9;
  options.ms_per_gb = 100;
  const std::string gain =
      "b saves 331.0 ms a request (95 % 325.0 ms to 338.0 ms, 24 prompts): it writes 28.2 instead "
      "of "
      "17.8 tokens/s";
  const std::string even =
      "; a decision of 500.0 ms breaks even at 24.1 tokens, and a reply has 16";
  struct Case {
    RowVerdict verdict;
    std::string words;
  };
  const Case cases[] = {
      {RowVerdict::kMoved,
       "moved: " + gain + "; the questions cost 375.0 ms a request on average, which is paid"},
      {RowVerdict::kNotMeasured, "stays: no prompt of the class was measured on every device"},
      {RowVerdict::kNoTraffic, "stays: no request of the traffic is of the class"},
      {RowVerdict::kOnlyDevice, "stays: no other device was measured"},
      {RowVerdict::kTooLittle, "stays: " + gain + "; a move needs a lower end above 30.0 ms"},
      {RowVerdict::kMemoryUnpriced,
       "stays: " + gain + even +
           "; a second copy of the model there takes 16.0 GB (20.3 ms a GB), and nobody said that "
           "it is worth it (--memory-budget, --ms-per-gb)"},
      {RowVerdict::kMemoryTooMuch,
       "stays: " + gain + even +
           "; a second copy of the model there takes 16.0 GB, and the budget of 32.0 GB has not "
           "enough left"},
      {RowVerdict::kMemoryTooDear,
       "stays: " + gain + even +
           "; a second copy of the model there takes 16.0 GB, so it brings 20.3 ms a GB, less than "
           "the 100.0 asked: not worth it"},
      {RowVerdict::kDecisionUnknown,
       "stays: " + gain +
           "; but its requests are told apart by a question whose time nobody said (--decision-ms, "
           "or a log)"},
      {RowVerdict::kAskingCosts,
       "stays: " + gain +
           "; but all rows that need the question bring 83.0 ms a request on average and asking "
           "costs 375.0 ms" +
           even},
  };
  for (const auto& [verdict, words] : cases) {
    DerivedRow row = faster_row();
    row.verdict = verdict;
    EXPECT_EQ(row_words(row, derivation, options), words);
  }
  DerivedRow slower = faster_row();
  slower.verdict = RowVerdict::kFastest;
  slower.gain = {-685, -700, -670};
  slower.other_speed = slower.default_speed;
  derivation.misroutes_known = true;
  EXPECT_EQ(row_words(slower, derivation, options),
            "stays: a is fastest; b takes 685.0 ms more a request (95 % 670.0 ms to 700.0 ms, 24 "
            "prompts), misroutes counted");
}

TEST(DeriveWords, TheWhole) {
  Derivation derivation;
  derivation.traffic.classes = {{"code", 0.25, {}}, {"short", 0.75, {}}};
  derivation.traffic.decisions = 40;
  EXPECT_EQ(derivation_words(derivation),
            "traffic: code 25.0% short 75.0% (of 40 decisions)\n"
            "speeds: nothing to hold them against: only measured times are used\n"
            "asking: the time of a decision is not known\n"
            "misroutes: not known (--confusion), so the classifier is taken never to err\n");
  derivation.traffic.decisions = 0;
  derivation.model.held_out = 12;
  derivation.model.held_out_error = 0.034;
  derivation.model.usable = true;
  derivation.decision_ms = 31;
  derivation.asking_ms = 11.6;
  derivation.turns = 2;
  derivation.misroutes_known = true;
  EXPECT_EQ(derivation_words(derivation),
            "traffic: code 25.0% short 75.0% (of the measured cases; no log)\n"
            "speeds: predicted times of held-out requests are off by 3.4% (median of 12)\n"
            "asking: a decision takes 31.0 ms, 11.6 ms a request on average with 2.0 turns a "
            "conversation\n");
  derivation.model.usable = false;
  EXPECT_NE(derivation_words(derivation).find("more than 10.0%"), std::string::npos);
}

}  // namespace
}  // namespace layard::gateway
