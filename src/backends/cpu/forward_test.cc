// The cpu device against the slow scalar forward, for every encoder form and instruction set.
#include "backends/cpu/forward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/cpu/cpu_session.h"
#include "backends/cpu/test_rows.h"
#include "encoder/reference.h"
#include "support/tiny_weights.h"

namespace layard::backends::cpu {
namespace {

using encoder::EncoderConfig;
using encoder::ModelRow;
using encoder::RowOutput;

void expect_near(const std::vector<float>& got, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 1e-4 + 1e-4 * std::fabs(expected[i])) << what << " " << i;
  }
}

void check(const encoder::ModelWeights& weights, const std::vector<ModelRow>& rows) {
  std::vector<RowOutput> expected(rows.size());
  ASSERT_TRUE(encoder::reference_forward(weights, rows, expected).ok());
  const kernels::KernelTable* tables[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(tables);
  for (std::size_t i = 0; i < count; ++i) {
    for (const int threads : {1, 2}) {
      const auto model =
          CpuModel::create(weights, nullptr, *tables[i], {ComputeType::kFloat32, threads});
      ASSERT_TRUE(model.ok()) << model.error().message;
      const auto session = CpuSession::open(*model, {threads, 1000});
      ASSERT_TRUE(session.ok()) << session.error().message;
      std::vector<RowOutput> got(rows.size());
      const Status status = (*session)->run(rows, got);
      ASSERT_TRUE(status.ok()) << status.error().message;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::string what = std::string(tables[i]->name) + ", row " + std::to_string(r);
        expect_near(got[r].logits, expected[r].logits, what + " logits");
        expect_near(got[r].act, expected[r].act, what + " act");
      }
    }
  }
}

testing::TestRows plain_rows(const EncoderConfig& config, std::size_t longest) {
  testing::TestRows rows(config.vocab_size);
  rows.add(1, 1);
  rows.add(2, 1);
  rows.add(9, 1);  // one option
  rows.add(33, 5);
  rows.add(64, 12);
  rows.add(longest, 20);
  return rows;
}

TEST(CpuBackend, ModernBertEqualsReference) {
  for (const int head_layers : {0, 1, 2}) {
    const EncoderConfig config = testing::tiny_modernbert();
    const testing::RandomWeights tiny(config, {head_layers, 3}, 11);
    check(tiny.weights(), plain_rows(config, 150).rows());
  }
}

TEST(CpuBackend, BertEqualsReference) {
  for (const int head_layers : {0, 2}) {
    const EncoderConfig config = testing::tiny_bert();
    const testing::RandomWeights tiny(config, {head_layers, 2}, 12);
    check(tiny.weights(), plain_rows(config, 150).rows());
  }
}

TEST(CpuBackend, LongRowEqualsReference) {
  EncoderConfig config = testing::tiny_modernbert();
  config.half_window = 64;
  const testing::RandomWeights modernbert(config, {2, 2}, 13);
  testing::TestRows rows(config.vocab_size);
  rows.add(600, 30);
  check(modernbert.weights(), rows.rows());
  const testing::RandomWeights bert(testing::tiny_bert(), {2, 2}, 14);
  check(bert.weights(), rows.rows());
}

TEST(CpuBackend, OptionalBiasesEqualReference) {
  for (int which = 0; which < 4; ++which) {
    EncoderConfig config = testing::tiny_modernbert();
    config.norm_bias = which == 0 || which == 3;
    config.attention_bias = which == 1 || which == 3;
    config.mlp_bias = which == 2 || which == 3;
    const testing::RandomWeights tiny(config, {1, 2}, 15);
    check(tiny.weights(), plain_rows(config, 40).rows());
  }
}

TEST(CpuBackend, ParallelLayoutEqualsReference) {
  for (const bool bert : {false, true}) {
    EncoderConfig config = bert ? testing::tiny_bert() : testing::tiny_modernbert();
    config.half_window = 3;
    const testing::RandomWeights tiny(config, {2, 2}, 16);
    testing::TestRows rows(config.vocab_size);
    rows.add_parallel(20, 3);
    rows.add_parallel(3, 1);
    rows.add(31, 4);  // both layouts in one pass
    rows.add_parallel(150, 11);
    check(tiny.weights(), rows.rows());
  }
}

// Sizes that fill no vector: 2 heads of 22, 13 hidden units, 1 act output.
TEST(CpuBackend, OddSizesEqualReference) {
  EncoderConfig config = testing::tiny_modernbert();
  config.hidden_size = 44;
  config.intermediate_size = 13;
  config.heads = 2;
  const testing::RandomWeights tiny(config, {1, 1}, 17);
  check(tiny.weights(), plain_rows(config, 70).rows());
}

TEST(CpuBackend, SeveralHeadsInTheDecisionHead) {
  EncoderConfig config = testing::tiny_modernbert();
  config.hidden_size = 192;
  config.intermediate_size = 70;
  config.heads = 6;
  config.layers = 1;
  config.layer_attention = {encoder::LayerAttention::kFull};
  const testing::RandomWeights tiny(config, {2, 2}, 18);
  testing::TestRows rows(config.vocab_size);
  rows.add(25, 4);
  rows.add(40, 2);
  check(tiny.weights(), rows.rows());
}

}  // namespace
}  // namespace layard::backends::cpu
