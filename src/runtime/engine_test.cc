#include "runtime/engine.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::runtime {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_tiny_checkpoint(folder_.path() / "tiny", {});
    ModelOptions options;
    options.model = (folder_.path() / "tiny").string();
    options.environment.threads = 1;
    engine_ = *Engine::open(options);
    model_ = *engine_->ensure_loaded();
  }

  static Request request(const std::string& text) {
    Request request;
    request.state.text = text;
    request.questions = *parse_questions(
        R"({"team":{"type":"choice","instructions":"which","criteria":["a","b","c"]},
            "yes":{"type":"noul","instructions":"is it so"}})",
        {});
    return request;
  }

  DecisionJob prepared(const Request& request) {
    DecisionJob job;
    job.request = &request;
    Engine::prepare(*model_, job);
    EXPECT_FALSE(job.error.has_value());
    return job;
  }

  testing::TempDir folder_;
  std::unique_ptr<Engine> engine_;
  LoadedModel* model_ = nullptr;
};

TEST_F(EngineTest, JobsRunTogetherAsAlone) {
  const Request a = request("one text");
  const Request b = request("another text, somewhat longer than the first");
  DecisionJob alone = prepared(a);
  DecisionJob* const one[] = {&alone};
  engine_->run(*model_, one);
  DecisionJob first = prepared(b);
  DecisionJob second = prepared(a);
  DecisionJob* const both[] = {&first, &second};
  engine_->run(*model_, both);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(second.outputs[row].logits, alone.outputs[row].logits);
    EXPECT_EQ(second.outputs[row].act, alone.outputs[row].act);
  }
  const auto answer = engine_->finish(*model_, second, true);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->rows.size(), 2U);
  EXPECT_EQ(answer->rows[1].question, "yes");
  EXPECT_EQ(answer->runtime.question_count, 2);
  EXPECT_FALSE(answer->runtime.rechecked.has_value());
}

TEST_F(EngineTest, OnlyPendingRowsAreRun) {
  const Request a = request("one text");
  DecisionJob whole = prepared(a);
  DecisionJob* const jobs[] = {&whole};
  engine_->run(*model_, jobs);
  DecisionJob half = prepared(a);
  ASSERT_EQ(half.pending, (std::vector<std::size_t>{0, 1}));
  half.outputs[0].logits = {1, 2, 3};
  half.pending = {1};
  DecisionJob* const again[] = {&half};
  engine_->run(*model_, again);
  EXPECT_EQ(half.outputs[0].logits, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(half.outputs[1].logits, whole.outputs[1].logits);
}

TEST_F(EngineTest, AJobWithAnErrorIsPassedOver) {
  Request too_long = request("");
  for (int i = 0; i < 400; ++i) too_long.state.text += "word ";
  DecisionJob refused;
  refused.request = &too_long;
  refused.layout.overflow = OverflowPolicy::kError;
  Engine::prepare(*model_, refused);
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_EQ(refused.error->code, ErrorCode::kInvalidRequest);
  const Request a = request("one text");
  DecisionJob good = prepared(a);
  DecisionJob* const jobs[] = {&refused, &good};
  engine_->run(*model_, jobs);
  EXPECT_FALSE(engine_->finish(*model_, refused, false).ok());
  EXPECT_TRUE(engine_->finish(*model_, good, false).ok());
  // What the request itself asks for wins.
  too_long.overflow = OverflowPolicy::kCut;
  DecisionJob cut;
  cut.request = &too_long;
  cut.layout.overflow = OverflowPolicy::kError;
  Engine::prepare(*model_, cut);
  EXPECT_FALSE(cut.error.has_value());
}

TEST_F(EngineTest, RequestIdsAreNeverGivenTwice) {
  const std::int64_t first = next_request_id();
  EXPECT_GT(first, 0);
  EXPECT_GT(next_request_id(), first);
}

}  // namespace
}  // namespace layard::runtime
