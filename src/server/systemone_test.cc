#include "server/systemone.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

// A choice, a score and a yes/no question, as a service answers them.
ServiceAnswer three_answers() {
  ServiceAnswer out;
  AnswerSet& set = out.prediction.answers;
  ChoiceAnswer choice{.choice = {"other", "other", "\"other\""},
                      .probabilities = {{"billing", .09}, {"tech", .2447}, {"other", .6652}},
                      .confidence = .2423,
                      .answer_confidence = .6652};
  set.answers.push_back({.id = "q", .value = choice, .act_probability = .9, .window = {}});
  ScoreAnswer score{.score = 1.05,
                    .legend = {"low", "mid", "high"},
                    .probabilities = {0, .95, .05},
                    .confidence = .8,
                    .answer_confidence = .95};
  set.answers.push_back({.id = "s", .value = score, .act_probability = .5, .window = {}});
  NoulAnswer noul{.noul = .25, .confidence = .75, .answer_confidence = .75};
  set.answers.push_back({.id = "n", .value = noul, .act_probability = .5, .window = {}});
  set.usage = {.input_tokens = 72,
               .ran = true,
               .state_tokens = 30,
               .truncated_questions = {},
               .options = {},
               .windows = {}};
  set.extra.push_back({"routing", R"({"model":"starter","repo":null})"});
  RuntimeInfo& info = out.prediction.runtime;
  info.model = "starter";
  info.model_revision = "abc";
  info.device = "cpu";
  info.backend = "cpu";
  info.routing_reason = "cpu_only";
  info.request_id = 7;
  info.sequence_length = 24;
  info.question_count = 3;
  info.latency_ms = 1.23456;
  info.queue_wait_ms = .0104;
  info.dtype = "float32";
  return out;
}

const std::string kChoice =
    R"("q":{"type":"choice","choice":"other","probabilities":{"billing":0.09,)"
    R"("tech":0.2447,"other":0.6652},"confidence":0.2423,"answer_confidence":0.6652,)"
    R"("action":{"act_probability":0.9})";
const std::string kScore =
    R"("s":{"type":"score","score":1.05,"legend":{"0":"low","1":"mid","2":"high"},)"
    R"("probabilities":{"0":0.0,"1":0.95,"2":0.05},"confidence":0.8,)"
    R"("answer_confidence":0.95,"action":{"act_probability":0.5})";
const std::string kNoul =
    R"("n":{"type":"noul","noul":0.25,"confidence":0.75,"answer_confidence":0.75,)"
    R"("action":{"act_probability":0.5})";
const std::string kUsage =
    R"("usage":{"input_tokens":72,"output_tokens":0,"state_tokens":30,)"
    R"("state_tokens_dropped":0,"truncated":false,"truncated_questions":[]})";
const std::string kLayard =
    R"("layard":{"model":"starter","model_revision":"abc","device":"cpu",)"
    R"("backend":"cpu","routing_reason":"cpu_only","request_id":7,"truncated":false,)"
    R"("sequence_length":24,"question_count":3,"latency_ms":1.235,)"
    R"("queue_wait_ms":0.01,"device_ms":null,"dtype":"float32","cached":false})";

TEST(ServerSystemOne, WireForm) {
  EXPECT_EQ(systemone_json(three_answers(), {}),
            R"({"model":"laya-rl-agent","answers":{)" + kChoice +
                R"(,"x_jev_confidence":0.4979},)" + kScore + R"(,"x_jev_confidence":0.925},)" +
                kNoul + "}}," + kUsage + R"(,"routing":{"model":"starter","repo":null},)" +
                kLayard + "}");
}

TEST(ServerSystemOne, GateAndWarnings) {
  Controls controls;
  controls.gate = ConfidenceGate{{{"choice:3-5", .7}}, .7};
  controls.warnings = {"lang has no effect on this server"};
  ServiceAnswer answer = three_answers();
  answer.prediction.answers.warnings = {"first"};
  EXPECT_EQ(systemone_json(std::move(answer), controls),
            R"({"model":"laya-rl-agent","answers":{)" + kChoice +
                R"(,"low_confidence":true,"abstention":"abstained","abstention_threshold":0.7,)"
                R"("x_jev_confidence":0.4979},)" +
                kScore +
                R"(,"abstention":"passed","abstention_threshold":0.7,"x_jev_confidence":0.925},)" +
                kNoul + R"(,"abstention":"passed","abstention_threshold":0.7}},)" + kUsage +
                R"(,"warnings":["first","lang has no effect on this server"],)"
                R"("routing":{"model":"starter","repo":null},)" +
                kLayard + "}");
}

TEST(ServerSystemOne, StrictForm) {
  Controls controls;
  controls.jev_strict = true;
  controls.warnings = {"left out"};
  EXPECT_EQ(systemone_json(three_answers(), controls),
            R"({"model":"laya-rl-agent","answers":{"q":{"type":"choice","choice":"other",)"
            R"("confidence":0.2423,"probabilities":{"billing":0.09,"tech":0.2447,)"
            R"("other":0.6652}},"s":{"type":"score","score":1.05,"confidence":0.8,)"
            R"("probabilities":{"0":0.0,"1":0.95,"2":0.05},"legend":{"0":"low","1":"mid",)"
            R"("2":"high"}},"n":{"type":"noul","noul":0.25}},"usage":{"input_tokens":72,)"
            R"("output_tokens":0}})");
}

TEST(ServerSystemOne, WithoutQuestionsNothingRan) {
  ServiceAnswer answer;
  answer.prediction.answers.extra.push_back({"routing", R"({"model":"starter"})"});
  EXPECT_EQ(systemone_json(answer, {}),
            R"({"model":"laya-rl-agent","answers":{},"usage":{"input_tokens":0,)"
            R"("output_tokens":0},"routing":{"model":"starter"}})");
}

TEST(ServerSystemOne, BlockSaysWhatAutoChoseAndWhatWasCached) {
  ServiceAnswer answer = three_answers();
  answer.cached = true;
  answer.prediction.runtime.model_routing = "language_english";
  EXPECT_NE(
      systemone_json(answer, {}).find(R"("cached":true,"model_routing":"language_english"}})"),
      std::string::npos);
}

TEST(ServerSystemOne, Batch) {
  Controls strict;
  strict.jev_strict = true;
  const std::string one = systemone_json(three_answers(), strict);
  EXPECT_EQ(batch_json({three_answers(), three_answers()}, strict),
            "{\"results\":[" + one + "," + one +
                "],\"total_usage\":{\"input_tokens\":144,\"output_tokens\":0}}");
}

TEST(ServerSystemOne, Times) {
  EXPECT_EQ(two_decimals(0), "0.00");
  EXPECT_EQ(two_decimals(1.239), "1.24");
  EXPECT_EQ(two_decimals(12345.6), "12345.60");
}

}  // namespace
}  // namespace layard::server
