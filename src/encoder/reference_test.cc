#include "encoder/reference.h"

#include <gtest/gtest.h>

#include "support/tiny_weights.h"

namespace layard::encoder {
namespace {

std::vector<std::int32_t> ids(std::size_t count) {
  std::vector<std::int32_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>((i * 7 + 3) % 50);
  return out;
}

RowOutput run(const ModelWeights& weights, const ModelRow& row) {
  std::vector<RowOutput> out(1);
  const Status status = reference_forward(weights, std::span(&row, 1), out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out[0];
}

TEST(Reference, SlidingLayersDoNotSeeFarTokens) {
  EncoderConfig config = testing::tiny_modernbert();
  config.layers = 1;
  config.layer_attention = {LayerAttention::kSliding};
  const testing::RandomWeights tiny(config, {0, 1}, 3);
  std::vector<std::int32_t> tokens = ids(20);
  const std::vector<std::int32_t> marker = {3};
  const RowOutput before = run(tiny.weights(), {tokens, marker, 0, {}, {}});
  tokens[8] = 49;  // five away: outside the half window of four
  EXPECT_EQ(run(tiny.weights(), {tokens, marker, 0, {}, {}}).logits, before.logits);
  tokens[7] = 49;  // four away: seen
  EXPECT_NE(run(tiny.weights(), {tokens, marker, 0, {}, {}}).logits, before.logits);
}

TEST(Reference, ParallelOptionsDoNotSeeEachOther) {
  EncoderConfig config = testing::tiny_modernbert();
  const testing::RandomWeights tiny(config, {0, 1}, 4);
  std::vector<std::int32_t> tokens = ids(14);
  const std::vector<std::int32_t> markers = {4, 6, 9};
  const std::vector<std::int32_t> positions = {0, 1, 2, 3, 4, 5, 4, 5, 6, 4, 7, 8, 9, 10};
  std::vector<std::int32_t> options = {0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 0, 0, 0, 0};
  const auto with = run(tiny.weights(), {tokens, markers, 1, positions, options});
  options[7] = 0;
  EXPECT_NE(run(tiny.weights(), {tokens, markers, 1, positions, options}).logits, with.logits);
}

TEST(Reference, TypeAndBertPositionsMatter) {
  const testing::RandomWeights tiny(testing::tiny_bert(), {1, 2}, 5);
  const std::vector<std::int32_t> tokens = ids(12);
  const std::vector<std::int32_t> markers = {2, 5};
  const auto choice = run(tiny.weights(), {tokens, markers, 0, {}, {}});
  EXPECT_EQ(choice.logits.size(), 2U);
  EXPECT_EQ(choice.act.size(), 2U);
  EXPECT_NE(run(tiny.weights(), {tokens, markers, 2, {}, {}}).logits, choice.logits);
}

TEST(Reference, RefusesBadRows) {
  const testing::RandomWeights tiny(testing::tiny_bert(), {1, 2}, 5);
  const auto check = [&](std::vector<std::int32_t> tokens, std::vector<std::int32_t> markers,
                         ErrorCode code) {
    const ModelRow row{tokens, markers, 0, {}, {}};
    std::vector<RowOutput> out(1);
    const Status status = reference_forward(tiny.weights(), std::span(&row, 1), out);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, code);
  };
  check(ids(601), {1}, ErrorCode::kUnsupportedShape);
  check({}, {0}, ErrorCode::kInternal);
  check({50}, {0}, ErrorCode::kInternal);
  check({-1}, {0}, ErrorCode::kInternal);
  check({1, 2}, {2}, ErrorCode::kInternal);
  check({1, 2}, {1, 1}, ErrorCode::kInternal);
  check({1, 2}, {}, ErrorCode::kInternal);
}

}  // namespace
}  // namespace layard::encoder
