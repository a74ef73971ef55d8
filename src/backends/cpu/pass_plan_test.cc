#include "backends/cpu/pass_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace layard::backends::cpu {
namespace {

struct Rows {
  explicit Rows(const std::vector<std::size_t>& lengths) {
    ids.resize(*std::max_element(lengths.begin(), lengths.end()));
    for (const std::size_t length : lengths) {
      rows.push_back({std::span<const std::int32_t>(ids).first(length), markers, 0, {}, {}});
    }
  }
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> markers = {0};
  std::vector<encoder::ModelRow> rows;
};

void check_cover(std::span<const QueryChunk> chunks, const std::vector<std::size_t>& lengths,
                 std::size_t most) {
  std::map<std::size_t, std::size_t> next;
  for (const QueryChunk& chunk : chunks) {
    EXPECT_EQ(chunk.begin, next[chunk.row]);
    EXPECT_GT(chunk.end, chunk.begin);
    EXPECT_LE(chunk.end - chunk.begin, most);
    next[chunk.row] = chunk.end;
  }
  for (std::size_t r = 0; r < lengths.size(); ++r) EXPECT_EQ(next[r], lengths[r]);
}

void check(const std::vector<std::size_t>& lengths, std::size_t parts_min) {
  const Rows rows(lengths);
  PassPlan plan;
  for (int round = 0; round < 2; ++round) {  // a plan is used again
    plan.build(rows.rows, {4, parts_min});
    ASSERT_EQ(plan.rows().size(), lengths.size());
    std::size_t token = 0;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      EXPECT_EQ(plan.rows()[r].first_token, token);
      EXPECT_EQ(plan.rows()[r].tokens, lengths[r]);
      EXPECT_EQ(plan.rows()[r].selected, 2U);
      for (std::size_t t = 0; t < lengths[r]; ++t) {
        EXPECT_EQ(&plan.row_of(token + t), &plan.rows()[r]);
      }
      token += lengths[r];
    }
    EXPECT_EQ(plan.tokens(), token);
    EXPECT_EQ(plan.longest(), *std::max_element(lengths.begin(), lengths.end()));
    check_cover(plan.full_chunks(), lengths, 256);
    check_cover(plan.sliding_chunks(), lengths, 128);
    check_cover(plan.selected_chunks(), std::vector<std::size_t>(lengths.size(), 2), 256);
  }
}

TEST(PassPlan, CoversEveryRowOnce) {
  check({1}, 1);
  check({5, 1, 7}, 1);
  check({600, 3, 256, 257, 128}, 1);
  check({600, 3, 256, 257, 128}, 64);
}

TEST(PassPlan, CutsALongRowForManyThreads) {
  const Rows rows({512});
  PassPlan plan;
  plan.build(rows.rows, {1, 8});
  EXPECT_GE(plan.full_chunks().size(), 8U);
  plan.build(rows.rows, {16, 8});
  EXPECT_EQ(plan.full_chunks().size(), 2U);
}

TEST(PassPlan, SelectsTheFirstTokenAndTheMarkers) {
  std::vector<std::int32_t> ids(20);
  const std::vector<std::int32_t> first = {3, 9};
  const std::vector<std::int32_t> second = {1, 4, 19};
  const std::vector<encoder::ModelRow> rows = {{ids, first, 0, {}, {}}, {ids, second, 2, {}, {}}};
  PassPlan plan;
  plan.build(rows, {1, 1});
  const std::vector<std::int32_t> expected = {0, 3, 9, 0, 1, 4, 19};
  EXPECT_EQ(std::vector<std::int32_t>(plan.selected().begin(), plan.selected().end()), expected);
  EXPECT_EQ(plan.rows()[1].first_selected, 3U);
  EXPECT_EQ(plan.rows()[1].selected, 4U);
}

}  // namespace
}  // namespace layard::backends::cpu
