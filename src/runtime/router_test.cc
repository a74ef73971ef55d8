#include "layard/router.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/json.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard {
namespace {

constexpr const char* kQuestions =
    R"({"team":{"type":"choice","instructions":"which","criteria":["a","b","c"]},
        "yes":{"type":"noul","instructions":"is it so"}})";
constexpr const char* kEnglish = "This is the end of it";
constexpr const char* kGerman = "Der Kunde wurde zweimal belastet.";

std::vector<std::string> keys(const base::JsonValue& object) {
  std::vector<std::string> out;
  for (const auto& member : object.members()) out.push_back(member.key);
  return out;
}

base::JsonValue parse(const Result<std::string>& json) {
  EXPECT_TRUE(json.ok()) << json.error().message;
  return json.ok() ? *base::parse_json(*json, {}) : base::JsonValue();
}

QuestionSet questions() { return *parse_questions(kQuestions, {}); }

// Two tiny checkpoints of different weights behind the two names.
class LayaRouterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::TinyOptions tiny;
    testing::write_tiny_checkpoint(folder_.path() / "english", tiny);
    tiny.seed = 2;
    testing::write_tiny_checkpoint(folder_.path() / "multilingual", tiny);
    write_models(R"({"laya": "english", "laya-multilingual": "multilingual"})");
  }

  void write_models(const std::string& text) {
    std::ofstream(folder_.path() / "models.json") << text;
  }

  RouterOptions options() {
    RouterOptions options;
    options.checkpoints.environment.models_file = (folder_.path() / "models.json").string();
    options.checkpoints.environment.hub_cache_dir = (folder_.path() / "hub").string();
    options.checkpoints.environment.threads = 1;
    options.checkpoints.local_files_only = true;
    options.checkpoints.lazy = true;
    options.checkpoints.log = [this](std::string_view level, std::string_view message) {
      if (level == "debug") return;
      const std::lock_guard lock(mutex_);
      log_ += std::string(message) + "\n";
    };
    return options;
  }

  std::unique_ptr<LayaRouter> open() { return open(options()); }
  static std::unique_ptr<LayaRouter> open(const RouterOptions& options) {
    auto router = LayaRouter::open(options);
    EXPECT_TRUE(router.ok()) << router.error().message;
    return *std::move(router);
  }

  // The same checkpoint, opened by its name.
  std::unique_ptr<Model> model(const std::string& name) {
    ModelOptions model = options().checkpoints;
    model.model = name;
    return *Model::open(model);
  }

  testing::TempDir folder_;
  std::mutex mutex_;
  std::string log_;
};

TEST_F(LayaRouterTest, EveryRequestIsAnsweredByItsCheckpoint) {
  const auto router = open();
  PredictOptions raw;
  raw.raw = true;
  const auto check = [&](const char* text, const char* checkpoint, const char* routing) {
    const auto found = router->predict({text}, questions(), raw);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->runtime.model, checkpoint) << text;
    EXPECT_EQ(found->runtime.model_routing, routing) << text;
    const auto wanted = model(checkpoint)->predict({text}, questions(), raw);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message;
    EXPECT_EQ(found->answers.answers, wanted->answers.answers) << text;
    EXPECT_EQ(found->runtime.model_revision, wanted->runtime.model_revision) << text;
    ASSERT_EQ(found->rows.size(), wanted->rows.size());
    for (std::size_t i = 0; i < found->rows.size(); ++i) {
      EXPECT_EQ(found->rows[i].logits, wanted->rows[i].logits) << text;
    }
  };
  check(kEnglish, "laya", "language_english");
  check("Хочу вернуть деньги", "laya-multilingual", "language_non_latin_script");
  check(kGerman, "laya-multilingual", "language_not_english");
  check("ok", "laya", "language_undecided_default");
  check("12345", "laya", "no_text_default");
  check("", "laya", "no_text_default");
}

TEST_F(LayaRouterTest, TheRoutingBlockStandsBeforeRuntime) {
  const auto router = open();
  const auto root = parse(router->predict_json(kGerman, kQuestions, {}, {}));
  EXPECT_EQ(keys(root),
            (std::vector<std::string>{"model", "answers", "usage", "routing", "runtime"}));
  EXPECT_EQ(root.find("model")->text(), "laya-rl-agent");
  const base::JsonValue& routing = *root.find("routing");
  EXPECT_EQ(keys(routing),
            (std::vector<std::string>{"model", "repo", "reason", "detection", "workflow"}));
  EXPECT_EQ(routing.find("model")->text(), "multilingual");
  EXPECT_TRUE(routing.find("repo")->is_null());  // a folder
  EXPECT_EQ(keys(*routing.find("detection")),
            (std::vector<std::string>{"script", "script_profile", "language", "is_english",
                                      "language_undecided", "diacritic_rate", "non_latin_fraction",
                                      "detector"}));
  EXPECT_EQ(root.find("runtime")->find("model")->text(), "laya-multilingual");
  EXPECT_EQ(root.find("runtime")->find("model_routing")->text(), "language_not_english");
  const auto many = parse(router->predict_json(
      R"({"context": "ok", "questions": ["Is it so?"], "model": "auto"})", {}));
  EXPECT_EQ(keys(many), keys(root));  // and no warning about the model's name
  EXPECT_EQ(many.find("runtime")->find("model_routing")->text(), "language_undecided_default");
}

TEST_F(LayaRouterTest, RouteLoadsNothing) {
  write_models(R"({"laya": "nowhere", "laya-multilingual": "nowhere"})");
  const auto router = open();
  const auto route = router->route({kGerman}, questions());
  ASSERT_TRUE(route.ok()) << route.error().message;
  EXPECT_EQ(route->checkpoint, "laya-multilingual");
}

TEST_F(LayaRouterTest, NoQuestionsLoadNothing) {
  write_models(R"({"laya": "nowhere", "laya-multilingual": "nowhere"})");
  const auto root = parse(open()->predict_json(kGerman, "{}", {}, {}));
  EXPECT_EQ(root.find("answers")->size(), 0U);
  EXPECT_EQ(root.find("runtime")->find("backend")->text(), "none");
  EXPECT_EQ(root.find("runtime")->find("routing_reason")->text(), "no_questions");
  EXPECT_EQ(root.find("runtime")->find("model")->text(), "laya-multilingual");
  EXPECT_EQ(root.find("runtime")->find("model_routing")->text(), "language_not_english");
}

TEST_F(LayaRouterTest, AMissingCheckpointFailsOnlyItsOwnTexts) {
  write_models(R"({"laya": "english"})");  // the other one is not in the hub's cache
  const auto router = open();
  EXPECT_TRUE(router->predict({kEnglish}, questions(), {}).ok());
  const auto missing = router->predict({kGerman}, questions(), {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(missing.error().message.find("layard download laya-multilingual"), std::string::npos)
      << missing.error().message;
  std::vector<Request> requests(3);
  for (Request& request : requests) request.questions = questions();
  requests[0].state = {kEnglish};
  requests[1].state = {kGerman};
  requests[2].state = {"ok"};
  const auto results = router->predict_many(requests, {});
  EXPECT_TRUE(results[0].ok());
  ASSERT_FALSE(results[1].ok());
  EXPECT_EQ(results[1].error().code, ErrorCode::kBackendUnavailable);
  EXPECT_TRUE(results[2].ok());
}

TEST_F(LayaRouterTest, ACheckpointThatComesLaterIsFound) {
  write_models(R"({"laya": "english", "laya-multilingual": "later"})");
  const auto router = open();
  ASSERT_FALSE(router->predict({kGerman}, questions(), {}).ok());
  std::filesystem::rename(folder_.path() / "multilingual", folder_.path() / "later");
  EXPECT_TRUE(router->predict({kGerman}, questions(), {}).ok());
}

TEST_F(LayaRouterTest, OpenLoadsBothUnlessLazy) {
  RouterOptions eager = options();
  eager.checkpoints.lazy = false;
  EXPECT_TRUE(LayaRouter::open(eager).ok());
  write_models(R"({"laya": "english"})");
  const auto missing = LayaRouter::open(eager);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kBackendUnavailable);
}

TEST_F(LayaRouterTest, OpenRefuses) {
  const auto check = [&](auto change, ErrorCode code) {
    RouterOptions changed = options();
    change(changed);
    const auto router = LayaRouter::open(changed);
    ASSERT_FALSE(router.ok());
    EXPECT_EQ(router.error().code, code) << router.error().message;
  };
  check([](RouterOptions& o) { o.default_model = "auto"; }, ErrorCode::kInvalidRequest);
  check([](RouterOptions& o) { o.default_model = "nope"; }, ErrorCode::kUnsupportedModel);
  check([](RouterOptions& o) { o.checkpoints.device = "tpu"; }, ErrorCode::kInvalidRequest);
  check([](RouterOptions& o) { o.checkpoints.dtype = "float8"; }, ErrorCode::kInvalidRequest);
  check([](RouterOptions& o) { o.checkpoints.environment.models_file += ".none"; }, ErrorCode::kIo);
}

TEST_F(LayaRouterTest, AutoIsNoCheckpoint) {
  ModelOptions model = options().checkpoints;
  model.model = "auto";
  model.lazy = false;
  const auto opened = Model::open(model);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(opened.error().message.find("laya-multilingual"), std::string::npos);
}

TEST_F(LayaRouterTest, DefaultModel) {
  RouterOptions other = options();
  other.default_model = (folder_.path() / "multilingual").string();
  const auto router = open(other);
  EXPECT_EQ(router->predict({"ok"}, questions(), {})->runtime.model, other.default_model);
  EXPECT_EQ(router->predict({"123"}, questions(), {})->runtime.model, other.default_model);
  EXPECT_EQ(router->predict({kEnglish}, questions(), {})->runtime.model, "laya");
  EXPECT_EQ(router->predict({kGerman}, questions(), {})->runtime.model, "laya-multilingual");
}

TEST_F(LayaRouterTest, ManyEqualSingles) {
  const auto router = open();
  const char* texts[] = {kEnglish,
                         kGerman,
                         "ok",
                         "",
                         "日本語です",
                         "He is not at the door",
                         "[\"Wo ist mein Paket?\"]"};
  std::vector<Request> requests;
  for (int i = 0; i < 21; ++i) {
    requests.push_back({*context_from_text(texts[i % 7]), questions(), std::nullopt, std::nullopt});
  }
  requests[3].questions.questions.clear();
  requests[4].state = {"{", false, true};  // says it is JSON, and is not
  const auto many = router->predict_many(requests, {});
  ASSERT_EQ(many.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto one = router->predict(requests[i].state, requests[i].questions, {});
    ASSERT_EQ(one.ok(), many[i].ok()) << i;
    ASSERT_EQ(one.ok(), i != 4) << i;
    if (!one.ok()) {
      EXPECT_EQ(many[i].error().code, one.error().code);
      continue;
    }
    EXPECT_EQ(one->answers, many[i]->answers) << i;  // with the routing block
    EXPECT_EQ(one->runtime.model, many[i]->runtime.model) << i;
    EXPECT_EQ(one->runtime.model_routing, many[i]->runtime.model_routing) << i;
  }
}

TEST_F(LayaRouterTest, KeysOfAStateHaveNoLanguage) {
  const auto router = open();
  const char* state = R"({"the": 1, "is": 2, "of": 3, "and": "nicht oder und mit"})";
  const auto root = parse(router->predict_json(state, kQuestions, {}, {}));
  EXPECT_EQ(root.find("runtime")->find("model_routing")->text(), "language_not_english");
}

TEST_F(LayaRouterTest, AnotherModelInARequestIsToldAsByAModel) {
  const auto root = parse(open()->predict_json(
      R"({"context": "ok", "questions": ["Is it so?"], "model": "laya-multilingual"})", {}));
  EXPECT_EQ(root.find("runtime")->find("model")->text(), "laya");
  EXPECT_EQ(root.find("warnings")->items()[0].text(),
            "the request names model 'laya-multilingual'; 'laya' answered it");
}

TEST_F(LayaRouterTest, Render) {
  const auto router = open();
  const auto root =
      parse(router->render_json("Größe ß 日本 \xF0\x9F\x91\x8D nicht oder", kQuestions, {}, {}));
  EXPECT_EQ(keys(root), (std::vector<std::string>{"questions", "routing"}));
  EXPECT_EQ(root.find("routing")->find("model")->text(), "multilingual");
  const auto plain =
      parse(model("laya-multilingual")
                ->render_json("Größe ß 日本 \xF0\x9F\x91\x8D nicht oder", kQuestions, {}, {}));
  EXPECT_EQ(write_json(*root.find("questions"), base::JsonStyle::kCompact),
            write_json(*plain.find("questions"), base::JsonStyle::kCompact));
}

TEST_F(LayaRouterTest, Info) {
  const auto router = open();
  const auto before = parse(router->info_json());
  EXPECT_EQ(keys(before), (std::vector<std::string>{"model", "router", "detector", "default_model",
                                                    "checkpoints"}));
  EXPECT_EQ(before.find("model")->text(), "auto");
  EXPECT_EQ(before.find("router")->text(), "language");
  EXPECT_EQ(before.find("default_model")->text(), "laya");
  EXPECT_EQ(keys(*before.find("checkpoints")),
            (std::vector<std::string>{"laya", "laya-multilingual"}));
  for (const char* name : {"laya", "laya-multilingual"}) {
    EXPECT_TRUE(before.find("checkpoints")->find(name)->find("remapped")->as_bool()) << name;
  }
  ASSERT_TRUE(router->predict({kGerman}, questions(), {}).ok());
  const auto after = parse(router->info_json());
  const auto loaded = [&](const char* name) {
    return !after.find("checkpoints")->find(name)->find("revision")->is_null();
  };
  EXPECT_FALSE(loaded("laya"));
  EXPECT_TRUE(loaded("laya-multilingual"));
}

TEST_F(LayaRouterTest, EveryResultSaysThatItsNameIsMapped) {
  const auto router = open();
  for (const char* text : {kEnglish, kGerman}) {
    EXPECT_TRUE(router->predict({text}, questions(), {})->runtime.remapped) << text;
    EXPECT_TRUE(router->predict({text}, {}, {})->runtime.remapped) << text;
  }
  RouterOptions own = options();
  own.default_model = (folder_.path() / "multilingual").string();
  EXPECT_FALSE(open(own)->predict({"ok"}, questions(), {})->runtime.remapped);
}

TEST_F(LayaRouterTest, ThreadsMayShareOneRouter) {
  const char* texts[] = {kEnglish, kGerman, "ok", "日本語です"};
  std::vector<AnswerSet> wanted;
  {
    const auto alone = open();
    for (const char* text : texts) {
      wanted.push_back(alone->predict({text}, questions(), {})->answers);
    }
  }
  log_.clear();
  const auto router = open();
  std::atomic<int> equal{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 8; ++i) {
          const std::size_t which = (t + i) % std::size(texts);
          const auto result = router->predict({texts[which]}, questions(), {});
          if (result.ok() && result->answers == wanted[which]) ++equal;
          (void)router->info_json();
        }
      });
    }
  }
  EXPECT_EQ(equal, 64);
  // That a name leads to a folder of ours is told once a load.
  std::size_t loads = 0;
  for (std::size_t at = log_.find("is mapped to"); at != std::string::npos;
       at = log_.find("is mapped to", at + 1)) {
    ++loads;
  }
  EXPECT_EQ(loads, 2U) << log_;
}

}  // namespace
}  // namespace layard
