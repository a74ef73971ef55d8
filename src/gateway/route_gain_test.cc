#include "gateway/route_gain.h"

#include <gtest/gtest.h>

#include <cmath>

namespace layard::gateway {
namespace {

// The rates of the seed's table, tokens a second: DFlash2 and MTP.
constexpr double kCode[] = {45.7, 31.7};
constexpr double kProse[] = {28.3, 25.8};
constexpr double kShort[] = {17.8, 28.2};

TEST(RouteGain, ShortRepliesGainAThirdOfASecond) {
  EXPECT_NEAR(decode_gain_ms(16, kShort[0], kShort[1]), 331, 1);
}

TEST(RouteGain, SixteenTokensLoseToASlowDecisionAndPayForAFastOne) {
  EXPECT_NEAR(*break_even_output_tokens(500, 1, kShort[0], kShort[1]), 24.1, 0.05);
  EXPECT_NEAR(*break_even_output_tokens(31, 1, kShort[0], kShort[1]), 1.5, 0.05);
  // Turns share the one decision.
  EXPECT_NEAR(*break_even_output_tokens(500, 10, kShort[0], kShort[1]), 2.41, 0.01);
  EXPECT_EQ(break_even_output_tokens(500, 1, kCode[0], kCode[1]), std::nullopt);
  EXPECT_EQ(break_even_output_tokens(500, 1, 20, 20), std::nullopt);
}

TEST(RouteGain, CodeLosesTwoSecondsOnTheOtherDrafter) {
  EXPECT_NEAR(decode_gain_ms(200, kCode[0], kCode[1]), -1933, 1);
}

TEST(RouteGain, ALongDocumentGainsWithoutADecision) {
  EXPECT_NEAR(prefill_gain_ms(2048, 98, 352, 0), 15080, 10);
  EXPECT_NEAR(prefill_gain_ms(2048, 98, 352, -80), 15000, 10);
}

// 18 % of prose that is read as short loses 0.68 s a request there: the row's gain counts it.
TEST(RouteGain, MisroutesAreCounted) {
  const double prose_ms = decode_gain_ms(200, kProse[0], kProse[1]);
  EXPECT_NEAR(prose_ms, -685, 1);
  const double short_ms = decode_gain_ms(16, kShort[0], kShort[1]);
  const RowShare shares[] = {{0.3, 1, short_ms}, {0.3, 0.18, prose_ms}, {0.4, 0, 1e9}};
  EXPECT_NEAR(row_gain_ms(shares), 0.3 * short_ms - 0.054 * 685, 1);
  EXPECT_NEAR(row_gain_per_request_ms(shares), (0.3 * short_ms + 0.054 * prose_ms) / 0.354, 1e-9);
  // With three times as much prose as short the row loses.
  const RowShare much[] = {{0.1, 1, short_ms}, {0.3, 0.18, prose_ms}, {0.6, 0, 0}};
  EXPECT_LT(row_gain_ms(much), 0);
  EXPECT_EQ(row_gain_per_request_ms({}), 0);
  const RowShare none[] = {{0.5, 0, 100}};
  EXPECT_EQ(row_gain_per_request_ms(none), 0);
}

TEST(RouteGain, ThePolicyPaysForItsDecisions) {
  // Three quarters of all requests are asked about, in conversations of two turns.
  const double cost = decision_cost_ms(0.75, 500, 2);
  EXPECT_DOUBLE_EQ(cost, 187.5);
  const double rows[] = {100, 60};
  EXPECT_DOUBLE_EQ(policy_gain_ms(rows, cost), -27.5);
  EXPECT_GT(policy_gain_ms(rows, decision_cost_ms(0.75, 31, 2)), 0);
  EXPECT_DOUBLE_EQ(policy_gain_ms({}, 0), 0);
}

TEST(RouteGain, ARowMovesOverBothMinima) {
  EXPECT_FALSE(row_moves(30, 100));  // exclusive
  EXPECT_TRUE(row_moves(30.1, 100));
  EXPECT_FALSE(row_moves(100, 5000));  // 2 % of 5 s
  EXPECT_TRUE(row_moves(100.1, 5000));
  EXPECT_FALSE(row_moves(-5, 100));
}

TEST(RouteGain, MemoryHasAPrice) {
  // The seed's second copy: 16 GB for a third of a second.
  EXPECT_NEAR(gain_per_gb_ms(331, 16e9), 20.7, 0.05);
  EXPECT_TRUE(memory_pays(331, {16e9, 32e9, 20}));
  EXPECT_FALSE(memory_pays(331, {16e9, 32e9, 21}));
  EXPECT_FALSE(memory_pays(1e6, {16e9, 15e9, 0}));
  EXPECT_TRUE(std::isinf(gain_per_gb_ms(1, 0)));
  EXPECT_TRUE(memory_pays(1, {0, 0, 1e9}));
}

TEST(RouteGain, PromptsBreakEven) {
  // (500 ms + 80 ms) / (1/98 - 1/352 s a token)
  EXPECT_NEAR(*break_even_prompt_tokens(500, 1, 80, 98, 352), 78.8, 0.1);
  EXPECT_NEAR(*break_even_prompt_tokens(0, 1, 0, 98, 352), 0, 1e-9);
  EXPECT_EQ(*break_even_prompt_tokens(10, 1, -100, 98, 352), 0);
  EXPECT_EQ(break_even_prompt_tokens(500, 1, 80, 352, 98), std::nullopt);
}

TEST(RouteGain, TimeOfARequest) {
  const DeviceSpeed speed{50, 1000, 20, 7};
  EXPECT_DOUBLE_EQ(request_ms(speed, {2000, 500, 11}), 50 + 1500 + 500 + 7);
  EXPECT_DOUBLE_EQ(request_ms(speed, {100, 500, 0}), 57);  // nothing is less than none
}

TEST(RouteGain, MovingAConversationPaysForItsHistory) {
  // 4 turns of 300 ms against 1,000 tokens at 1,000 a second and a decision of 150 ms
  EXPECT_TRUE(move_pays_midway(4, 300, 1000, 1000, 150));
  EXPECT_FALSE(move_pays_midway(4, 300, 1100, 1000, 150));
  EXPECT_FALSE(move_pays_midway(4, 287.5, 1000, 1000, 150));  // exclusive
}

}  // namespace
}  // namespace layard::gateway
