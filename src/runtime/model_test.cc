#include "layard/model.h"

#include <thread>

#include "base/json.h"
#include "support/tiny_model.h"

namespace layard {
namespace {

constexpr const char* kQuestions =
    R"({"team":{"type":"choice","instructions":"which",
                "criteria":{"a":"first","b":null,"c":"third"}},
        "level":{"type":"score","instructions":"how much","criteria":["low","high"]},
        "yes":{"type":"noul","instructions":"is it so"}})";

using ModelTest = testing::TinyModel;

base::JsonValue parse(const Result<std::string>& json) {
  EXPECT_TRUE(json.ok()) << json.error().message;
  return *base::parse_json(*json, {});
}

std::vector<std::string> keys(const base::JsonValue& object) {
  std::vector<std::string> out;
  for (const auto& member : object.members()) out.push_back(member.key);
  return out;
}

TEST_F(ModelTest, AnswersKeepOrderAndFields) {
  const auto root = parse(open()->predict_json("some text", kQuestions, {}, {}));
  EXPECT_EQ(keys(root), (std::vector<std::string>{"model", "answers", "usage", "runtime"}));
  EXPECT_EQ(keys(*root.find("answers")), (std::vector<std::string>{"team", "level", "yes"}));
  EXPECT_EQ(keys(*root.find("answers")->find("team")),
            (std::vector<std::string>{"type", "choice", "probabilities", "confidence",
                                      "answer_confidence", "action"}));
}

TEST_F(ModelTest, RuntimeInfoFields) {
  const auto root = parse(open()->predict_json("some text", kQuestions, {}, {}));
  const auto& runtime = *root.find("runtime");
  EXPECT_EQ(keys(runtime),
            (std::vector<std::string>{
                "backend",         "device",         "model",          "model_revision",
                "sequence_length", "question_count", "routing_reason", "artifact_revision",
                "latency_ms",      "compute_units",  "buckets",        "dtype",
                "execution",       "queue_wait_ms",  "device_ms",      "cpu_backlog_ms",
                "npu_backlog_ms",  "request_id",     "truncated",      "model_routing"}));
  EXPECT_EQ(runtime.find("backend")->text(), "cpu");
  EXPECT_EQ(runtime.find("routing_reason")->text(), "npu_runtime_unavailable");
  EXPECT_EQ(runtime.find("question_count")->as_int64().value(), 3);
  EXPECT_TRUE(runtime.find("artifact_revision")->text().starts_with("cpu:"));
  EXPECT_TRUE(runtime.find("artifact_revision")->text().ends_with(":float32"));
}

TEST_F(ModelTest, NoQuestionsRunsNothing) {
  ModelOptions lazy = options();
  lazy.lazy = true;
  lazy.device = "npu";
  lazy.model = "no-such-model";  // never looked up
  auto model = Model::open(lazy);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto root = parse((*model)->predict_json("x", "{}", {}, {}));
  EXPECT_EQ(root.find("answers")->size(), 0U);
  EXPECT_EQ(write_json(*root.find("usage"), base::JsonStyle::kCompact),
            R"({"input_tokens":0,"output_tokens":0})");
  EXPECT_EQ(root.find("runtime")->find("backend")->text(), "none");
  EXPECT_EQ(root.find("runtime")->find("device")->text(), "none");
  EXPECT_EQ(root.find("runtime")->find("routing_reason")->text(), "no_questions");
}

TEST_F(ModelTest, ManyEqualSingles) {
  const auto model = open();
  std::vector<Request> requests;
  for (int i = 0; i < 20; ++i) {
    State state{std::string(static_cast<std::size_t>(i * 9), 'a' + static_cast<char>(i)), false};
    requests.push_back({state, *parse_questions(kQuestions, {}), std::nullopt, std::nullopt});
  }
  requests[3].questions.questions.clear();
  PredictOptions raw;
  raw.raw = true;
  const auto many = model->predict_many(requests, raw);
  ASSERT_EQ(many.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto one = model->predict(requests[i].state, requests[i].questions, raw);
    ASSERT_TRUE(one.ok() && many[i].ok());
    EXPECT_EQ(one->answers, many[i]->answers) << i;
    ASSERT_EQ(one->rows.size(), many[i]->rows.size());
    for (std::size_t r = 0; r < one->rows.size(); ++r) {
      EXPECT_EQ(one->rows[r].logits, many[i]->rows[r].logits) << i << " " << r;
    }
  }
}

QuestionSet with_order(const QuestionSet& questions, const std::vector<std::uint32_t>& order) {
  QuestionSet out = questions;
  out.questions[0].option_order = order;
  return out;
}

// One order, asked for or not, is what there always was: the same bits, and nothing more is said.
TEST_F(ModelTest, OneOrderIsTheDefault) {
  const auto model = open();
  const auto questions = *parse_questions(kQuestions, {});
  PredictOptions options;
  options.raw = true;
  const auto before = model->predict({"some text"}, questions, options);
  options.orders = 1;
  const auto one = model->predict({"some text"}, questions, options);
  EXPECT_EQ(one->answers, before->answers);
  EXPECT_TRUE(one->answers.stability.empty());
  ASSERT_EQ(one->rows.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(one->rows[r].logits, before->rows[r].logits);
    EXPECT_TRUE(one->rows[r].option_order.empty());
  }
  const auto root = parse(model->predict_json("some text", kQuestions, {}, {}));
  EXPECT_EQ(root.find("stability"), nullptr);
}

// Two orders are two single questions whose order is written out, and the mean of their answers.
TEST_F(ModelTest, TwoOrdersAreTwoQuestionsByHand) {
  const auto model = open();
  const auto questions = *parse_questions(kQuestions, {});
  PredictOptions options;
  options.raw = true;
  const auto forward = model->predict({"some text"}, with_order(questions, {0, 1, 2}), options);
  const auto reversed = model->predict({"some text"}, with_order(questions, {2, 1, 0}), options);
  options.orders = 2;
  const auto both = model->predict({"some text"}, questions, options);
  ASSERT_TRUE(both.ok()) << both.error().message;
  ASSERT_EQ(both->rows.size(), 4U);
  EXPECT_EQ(both->rows[0].logits, forward->rows[0].logits);
  EXPECT_EQ(both->rows[0].act, forward->rows[0].act);
  EXPECT_EQ(both->rows[1].logits, reversed->rows[0].logits);
  EXPECT_EQ(both->rows[1].input_ids, reversed->rows[0].input_ids);
  EXPECT_EQ(both->rows[1].option_order, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_NE(both->rows[0].logits, both->rows[1].logits);
  // Scores and nouls are what they are.
  EXPECT_EQ(both->answers.answers[1], forward->answers.answers[1]);
  EXPECT_EQ(both->answers.answers[2], forward->answers.answers[2]);
  const auto choice = [](const Prediction& p) {
    return std::get<ChoiceAnswer>(p.answers.answers[0].value);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const double mean = (choice(*forward).probabilities[i].probability +
                         choice(*reversed).probabilities[i].probability) /
                        2;
    EXPECT_NEAR(choice(*both).probabilities[i].probability, mean, 1e-4) << i;
  }
  ASSERT_EQ(both->answers.stability.size(), 3U);
  const OrderStability& team = both->answers.stability[0];
  EXPECT_EQ(team.orders, 2);
  EXPECT_EQ(team.choices, (std::vector<Label>{choice(*forward).choice, choice(*reversed).choice}));
  EXPECT_EQ(both->answers.stability[1], (OrderStability{"level", 1, {}, 1, 0}));
  const std::int64_t turned = static_cast<std::int64_t>(both->rows[1].input_ids.size());
  EXPECT_EQ(both->answers.usage.input_tokens, forward->answers.usage.input_tokens + turned);
}

// What else is in the batch changes no bit, whatever orders its requests ask for; a request's own
// orders win.
TEST_F(ModelTest, OrdersInABatch) {
  const auto model = open();
  std::vector<Request> requests;
  for (int i = 0; i < 12; ++i) {
    Request request{{"text number " + std::to_string(i * i)},
                    *parse_questions(kQuestions, {}),
                    std::nullopt,
                    std::nullopt};
    if (i % 3 == 1) request.orders = 1;
    if (i % 3 == 2) request.orders = 6;
    requests.push_back(std::move(request));
  }
  PredictOptions options;
  options.raw = true;
  options.orders = 2;
  const auto many = model->predict_many(requests, options);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_TRUE(many[i].ok());
    const std::size_t orders = i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 6;
    ASSERT_EQ(many[i]->rows.size(), 2 + orders);
    PredictOptions alone = options;
    alone.orders = static_cast<int>(orders);
    const auto one = model->predict(requests[i].state, requests[i].questions, alone);
    EXPECT_EQ(one->answers, many[i]->answers) << i;
    for (std::size_t r = 0; r < one->rows.size(); ++r) {
      EXPECT_EQ(one->rows[r].logits, many[i]->rows[r].logits) << i << " " << r;
    }
  }
  options.orders = 25;
  const auto refused = model->predict(requests[0].state, requests[0].questions, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
}

TEST_F(ModelTest, OrdersInTheJsonDoor) {
  const auto model = open();
  const auto root = parse(model->predict_json(
      std::string(R"({"state":"some text","stability":true,"questions":)") + kQuestions + "}", {}));
  EXPECT_EQ(keys(root),
            (std::vector<std::string>{"model", "answers", "usage", "stability", "runtime"}));
  EXPECT_EQ(keys(*root.find("stability")), (std::vector<std::string>{"team", "level", "yes"}));
  EXPECT_EQ(keys(*root.find("stability")->find("team")),
            (std::vector<std::string>{"orders", "agreement", "spread", "choices"}));
  EXPECT_EQ(keys(*root.find("stability")->find("yes")), (std::vector<std::string>{"orders"}));
  PredictOptions raw;
  raw.raw = true;
  raw.orders = 2;
  const auto rows = parse(model->predict_json("some text", kQuestions, {}, raw));
  const auto& team = *rows.find("rows")->find("team");
  ASSERT_EQ(team.size(), 2U);
  EXPECT_EQ(write_json(*team.items()[1].find("option_order"), base::JsonStyle::kCompact),
            "[2,1,0]");
  EXPECT_EQ(rows.find("rows")->find("yes")->find("option_order"), nullptr);
  // The row of each question as it is written: one.
  EXPECT_TRUE(parse(model->render_json("some text", kQuestions, {}, raw))
                  .find("questions")
                  ->find("team")
                  ->is_object());
}

TEST_F(ModelTest, AnotherModelInARequestIsWarnedAbout) {
  testing::write_file(folder_ / "models.json", R"({"laya": "."})");
  ModelOptions mapped = options();
  mapped.environment.models_file = (folder_ / "models.json").string();
  mapped.model = "laya";
  const auto model = Model::open(mapped);
  const auto check = [&](const std::string& asked, bool warned) {
    Request request{{"text"}, *parse_questions(kQuestions, {}), std::nullopt, asked};
    const auto result = std::move((*model)->predict_many(std::span(&request, 1), {})[0]);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(!result->answers.warnings.empty(), warned) << asked;
  };
  check("laya", false);
  check("english", false);
  check("convaiinnovations/laya", false);
  check("laya-multilingual", true);
  check("jev-1", true);
}

TEST_F(ModelTest, OneBadRequestLosesNothingElse) {
  const auto model = open();
  std::vector<Request> requests(3);
  for (auto& request : requests) {
    request.state = {"text", false};
    request.questions = *parse_questions(kQuestions, {});
  }
  requests[1].state.text = std::string(4000, 'x');
  requests[1].overflow = OverflowPolicy::kError;
  const auto results = model->predict_many(requests, {});
  EXPECT_TRUE(results[0].ok());
  ASSERT_FALSE(results[1].ok());
  EXPECT_EQ(results[1].error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(results[2].ok());
}

TEST_F(ModelTest, OverflowPolicies) {
  const auto model = open();
  std::string text;
  for (int i = 0; i < 400; ++i) text += "w" + std::to_string(i) + " ";
  const auto cut = parse(model->predict_json(text, kQuestions, {}, {}));
  EXPECT_TRUE(cut.find("runtime")->find("truncated")->as_bool());
  EXPECT_GT(cut.find("usage")->find("state_tokens_dropped")->as_int64().value(), 0);
  EXPECT_EQ(cut.find("warnings")->size(), 3U);
  PredictOptions windows;
  windows.overflow = OverflowPolicy::kWindows;
  const auto scanned = parse(model->predict_json(text, kQuestions, {}, windows));
  EXPECT_GT(scanned.find("usage")->find("windows")->as_int64().value(), 1);
  EXPECT_NE(scanned.find("answers")->find("yes")->find("window"), nullptr);
  const auto short_text = parse(model->predict_json("short", kQuestions, {}, windows));
  EXPECT_EQ(short_text.find("usage")->find("windows")->as_int64().value(), 1);
  PredictOptions error;
  error.overflow = OverflowPolicy::kError;
  const auto refused = model->predict_json(text, kQuestions, {}, error);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
}

TEST_F(ModelTest, ThreadsMayShareOneModel) {
  const auto model = open();
  const auto questions = *parse_questions(kQuestions, {});
  std::vector<AnswerSet> wanted;
  for (int i = 0; i < 8; ++i) {
    wanted.push_back(model->predict({"text " + std::to_string(i), false}, questions, {})->answers);
  }
  std::vector<std::jthread> threads;
  std::vector<int> wrong(8, 0);
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 40; ++i) {
        const std::size_t which = (i + t) % 8;
        const auto got = model->predict({"text " + std::to_string(which), false}, questions, {});
        if (!got.ok() || !(got->answers == wanted[which])) ++wrong[t];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST_F(ModelTest, TokenCacheOffGivesTheSame) {
  ModelOptions uncached = options();
  uncached.environment.token_cache_entries = 0;
  auto other = Model::open(uncached);
  ASSERT_TRUE(other.ok());
  const auto questions = *parse_questions(kQuestions, {});
  EXPECT_EQ(open()->predict({"text", false}, questions, {})->answers,
            (*other)->predict({"text", false}, questions, {})->answers);
}

TEST_F(ModelTest, RenderShowsSpans) {
  const auto root = parse(open()->render_json("text", kQuestions, {}, {}));
  const auto& team = *root.find("questions")->find("team");
  EXPECT_EQ(team.find("markers")->size(), 3U);
  EXPECT_EQ(team.find("input_ids")->size(), team.find("tokens")->size());
  EXPECT_EQ(team.find("option_spans")->items()[0].find("text")->text(), "a: first");
}

TEST_F(ModelTest, ErrorsAreTyped) {
  const auto check = [&](const ModelOptions& given, ErrorCode code) {
    const auto model = Model::open(given);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, code) << model.error().message;
  };
  ModelOptions unknown = options();
  unknown.model = "nope";
  check(unknown, ErrorCode::kUnsupportedModel);
  ModelOptions gpu = options();
  gpu.device = "gpu";
  check(gpu, ErrorCode::kBackendUnavailable);
  ModelOptions isa = options();
  isa.environment.force_isa = "sse9";
  check(isa, ErrorCode::kInvalidRequest);
  ModelOptions offline = options();
  offline.model = "laya";
  offline.local_files_only = true;
  offline.environment.hub_cache_dir = (folder_.path() / "empty").string();
  check(offline, ErrorCode::kBackendUnavailable);
}

TEST_F(ModelTest, PredictJsonReadsRequests) {
  const auto model = open();
  EXPECT_TRUE(model->predict_json(R"({"state":"x","questions":["Is it?"]})", {}).ok());
  EXPECT_TRUE(
      model->predict_json(R"({"context":{"a":1},"questions":["Is it?"],"overflow":"windows"})", {})
          .ok());
  for (const char* bad : {"", "[]", "{}", R"({"state":"x","context":"y","questions":{}})",
                          R"({"state":null,"questions":{}})", R"({"state":"x","questions":[1]})",
                          R"({"state":"x","questions":{},"overflow":"maybe"})"}) {
    const auto result = model->predict_json(bad, {});
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest) << bad;
  }
}

}  // namespace
}  // namespace layard
