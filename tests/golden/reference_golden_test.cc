// Goal: the scalar oracle gives upstream's logits on upstream's own rows.
#include <gtest/gtest.h>

#include "checkpoint/checkpoint_folder.h"
#include "encoder/reference.h"
#include "golden_cases.h"
#include "support/shared_dir.h"
#include "tolerance.h"

namespace layard::golden {
namespace {

// Longer rows say nothing new about the oracle and take it minutes; the cpu backend runs them all.
constexpr std::size_t kTokensMax = 160;

void check(const std::string& name) {
  LAYARD_REQUIRE_SHARED(shared);
  const auto folder = checkpoint::CheckpointFolder::open(shared / "goldens/checkpoints" / name);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  const auto config = encoder::EncoderConfig::parse(folder->encoder_config, "config.json");
  ASSERT_TRUE(config.ok()) << config.error().message;
  const encoder::HeadConfig head{static_cast<int>(folder->config.head_layers),
                                 static_cast<int>(folder->config.act_outputs)};
  const auto weights = encoder::ModelWeights::bind(
      *config, head, folder->weights.names(),
      [&](std::string_view tensor) { return folder->weights.find(tensor); }, name);
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  std::size_t checked = 0;
  for (const GoldenCase& golden : read_cases(shared / "goldens" / (name + ".jsonl"))) {
    for (const GoldenRow& row : golden.rows) {
      if (row.input_ids.size() > kTokensMax || checked > 120) continue;
      const encoder::ModelRow input{row.input_ids, row.markers, row.type, {}, {}};
      std::vector<encoder::RowOutput> output(1);
      const Status status = encoder::reference_forward(*weights, std::span(&input, 1), output);
      ASSERT_TRUE(status.ok()) << status.error().message;
      const std::string where = name + "/" + golden.name + "/" + row.question;
      expect_near(output[0].logits, row.logits, where);
      expect_near(softmax(output[0].act), row.act, where + " act");
      ++checked;
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(GoldenReference, English) { check("english"); }
TEST(GoldenReference, Multilingual) { check("multilingual"); }
TEST(GoldenReference, Typed) { check("typed"); }
TEST(GoldenReference, Bert) { check("bert"); }

}  // namespace
}  // namespace layard::golden
