#include "validation/parity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace layard::validation {
namespace {

ReferenceCase one_case(std::vector<float> logits) {
  ReferenceCase reference;
  reference.name = "c";
  ReferenceRow row;
  row.ids = {1, 2, 3};
  for (std::size_t i = 0; i < logits.size(); ++i)
    row.markers.push_back(static_cast<std::int32_t>(i));
  row.logits = std::move(logits);
  row.act = {0.5, 0.5};
  reference.rows.push_back(row);
  return reference;
}

// A forward that returns `logits` whatever is asked.
Forward returning(std::vector<float> logits) {
  return [logits](std::span<const encoder::ModelRow>, std::span<encoder::RowOutput> out) {
    for (auto& output : out) output = {logits, {0.0F, 0.0F}};
    return Status();
  };
}

GateSummary run(const ReferenceCase& reference, const Forward& forward,
                const GateOptions& options) {
  const auto summary = evaluate(std::span(&reference, 1), {}, forward, {}, options, {});
  EXPECT_TRUE(summary.ok());
  return *summary;
}

TEST(Parity, EqualPasses) {
  const auto summary = run(one_case({2.0F, 1.0F}), returning({2.0F, 1.0F}), {});
  EXPECT_TRUE(summary.passed);
  EXPECT_EQ(summary.rows, 1U);
  EXPECT_EQ(summary.prob_max_abs, 0.0);
}

TEST(Parity, DifferentProbabilityFails) {
  const auto summary = run(one_case({2.0F, 1.0F}), returning({2.0F, 1.01F}), {});
  EXPECT_FALSE(summary.passed);
  EXPECT_GT(summary.prob_max_abs, 1e-3);
  EXPECT_EQ(summary.hard_mismatches, 0U);
}

TEST(Parity, FlipsAreHardOnlyAboveTwiceTheTolerance) {
  GateOptions half;
  half.tolerance = kToleranceReduced;
  const auto near = run(one_case({0.01F, 0.0F}), returning({0.0F, 0.01F}), half);
  EXPECT_TRUE(near.passed);
  ASSERT_EQ(near.near_tie_flips.size(), 1U);
  EXPECT_EQ(near.near_tie_flips[0].case_name, "c");
  const auto hard = run(one_case({0.2F, 0.0F}), returning({0.0F, 0.2F}), half);
  EXPECT_FALSE(hard.passed);
  EXPECT_EQ(hard.hard_mismatches, 1U);
}

TEST(Parity, NanNeverPasses) {
  const auto summary = run(one_case({2.0F, 1.0F}), returning({NAN, 1.0F}), {});
  EXPECT_FALSE(summary.passed);
  EXPECT_FALSE(summary.all_finite);
}

// An error that is not a number is null in JSON, whichever it is, and in any row.
TEST(Parity, WhatIsNotFiniteIsNull) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto check = [](std::vector<float> logits, std::vector<float> act,
                        std::vector<std::string> nulls) {
    const Forward forward = [&](std::span<const encoder::ModelRow>,
                                std::span<encoder::RowOutput> out) {
      for (auto& output : out) output = {{2.0F, 1.0F}, {0.0F, 0.0F}};
      out[1] = {logits, act};
      return Status();
    };
    ReferenceCase reference = one_case({2.0F, 1.0F});
    reference.rows.resize(3, reference.rows[0]);
    const GateSummary summary = run(reference, forward, {});
    EXPECT_FALSE(summary.passed);
    EXPECT_FALSE(summary.all_finite);
    const std::string text = write_json(to_json(summary), base::JsonStyle::kIndent1);
    const auto root = base::parse_json(text, {});
    ASSERT_TRUE(root.ok()) << root.error().message << text;
    std::vector<std::string> found;
    for (const base::JsonMember& member : root->members()) {
      if (member.value.is_null()) found.push_back(member.key);
    }
    EXPECT_EQ(found, nulls) << text;
  };
  check({2.0F, 1.0F}, {NAN, 0.0F}, {"action_prob_max_abs"});
  check({2.0F, 1.0F}, {kInfinity, 0.0F}, {"action_prob_max_abs"});
  check({NAN, 1.0F}, {0.0F, 0.0F}, {"prob_max_abs", "logit_max_abs"});
  check({kInfinity, 1.0F}, {0.0F, 0.0F}, {"prob_max_abs", "logit_max_abs"});
  check({2.0F, -kInfinity}, {0.0F, 0.0F}, {"logit_max_abs"});
  check({NAN, NAN}, {NAN, NAN}, {"prob_max_abs", "action_prob_max_abs", "logit_max_abs"});
}

TEST(Parity, UnstableRepeatFails) {
  int calls = 0;
  const Forward unstable = [&calls](std::span<const encoder::ModelRow>,
                                    std::span<encoder::RowOutput> out) {
    const float wobble = calls++ == 0 ? 0.0F : 1e-7F;
    for (auto& output : out) output = {{1.0F + wobble, 0.0F}, {0.0F, 0.0F}};
    return Status();
  };
  const auto summary = run(one_case({1.0F, 0.0F}), unstable, {});
  EXPECT_FALSE(summary.repeat_identical);
  EXPECT_FALSE(summary.passed);
}

// Every case is run twice, not only the first.
TEST(Parity, UnstableRepeatOfALaterCaseFails) {
  const std::vector<ReferenceCase> cases(3, one_case({1.0F, 0.0F}));
  int calls = 0;
  const Forward unstable = [&calls](std::span<const encoder::ModelRow>,
                                    std::span<encoder::RowOutput> out) {
    const float wobble = ++calls == 6 ? 1e-7F : 0.0F;  // the third case's second run
    for (auto& output : out) output = {{1.0F, wobble}, {0.0F, 0.0F}};
    return Status();
  };
  const auto summary = evaluate(cases, {}, unstable, {}, {}, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(summary->rows, 3U);
  EXPECT_FALSE(summary->repeat_identical);
  EXPECT_FALSE(summary->passed);
}

TEST(Parity, IdsAndLongRows) {
  const ReferenceCase reference = one_case({1.0F, 0.0F});
  const BuildRows other = [](const ReferenceCase& c) -> Result<std::vector<ReferenceRow>> {
    auto rows = c.rows;
    rows[0].ids[1] = 9;
    return rows;
  };
  const auto mismatch =
      evaluate(std::span(&reference, 1), {}, returning({1.0F, 0.0F}), other, {}, {});
  ASSERT_TRUE(mismatch.ok());
  EXPECT_EQ(mismatch->token_mismatch_cases, 1U);
  EXPECT_FALSE(mismatch->passed);
  GateOptions short_only;
  short_only.tokens_max = 2;
  const auto skipped = run(reference, returning({1.0F, 0.0F}), short_only);
  EXPECT_EQ(skipped.skipped_rows, 1U);
  EXPECT_FALSE(skipped.passed);  // nothing was compared
}

}  // namespace
}  // namespace layard::validation
