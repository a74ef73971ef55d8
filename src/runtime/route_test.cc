#include "runtime/route.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_dir.h"

namespace layard {
namespace {

using runtime::choose_route;
using runtime::find_targets;
using runtime::RouteTargets;

RouteTargets targets(const Environment& environment, std::string_view default_model) {
  auto found = find_targets(environment, default_model);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *std::move(found) : RouteTargets{};
}

QuestionSet questions(std::initializer_list<const char*> ids) {
  QuestionSet set;
  for (const char* id : ids) set.questions.emplace_back().id = id;
  return set;
}

Route route(const RouteTargets& targets, const State& state) {
  auto choice = choose_route(targets, state, {});
  EXPECT_TRUE(choice.ok()) << choice.error().message;
  return choice.ok() ? choice->route : Route{};
}

TEST(AutoModel, Name) {
  for (const char* name : {"auto", "AUTO", " auto\n"}) EXPECT_TRUE(is_auto_model(name)) << name;
  for (const char* name : {"", "aut", "auto2", "./auto", "laya"}) {
    EXPECT_FALSE(is_auto_model(name)) << name;
  }
}

TEST(RouteTargets, TheTwoCheckpoints) {
  const RouteTargets found = targets({}, "laya");
  ASSERT_EQ(found.targets.size(), 2U);
  EXPECT_EQ(found.targets[found.english].name, "laya");
  EXPECT_EQ(found.targets[found.english].label, "english");
  EXPECT_EQ(found.targets[found.english].repo, "convaiinnovations/laya");
  EXPECT_EQ(found.targets[found.english].revision, "c5d78730f3493e4fe16d61507ef4b78eef7318cf");
  EXPECT_EQ(found.targets[found.multilingual].name, "laya-multilingual");
  EXPECT_EQ(found.targets[found.multilingual].label, "multilingual");
  EXPECT_EQ(found.targets[found.multilingual].repo, "convaiinnovations/laya-multilingual");
  ASSERT_EQ(auto_checkpoints().size(), 2U);
  EXPECT_EQ(auto_checkpoints()[0], "laya");
  EXPECT_EQ(auto_checkpoints()[1], "laya-multilingual");
}

TEST(RouteTargets, Default) {
  testing::TempDir folder;
  const auto check = [](std::string_view model, std::string_view name, std::string_view label,
                        std::size_t count) {
    const RouteTargets found = targets({}, model);
    ASSERT_EQ(found.targets.size(), count) << model;
    EXPECT_EQ(found.targets[found.fallback].name, name);
    EXPECT_EQ(found.targets[found.fallback].label, label);
  };
  check("laya", "laya", "english", 2);
  check(" English", "laya", "english", 2);
  check("convaiinnovations/laya", "laya", "english", 2);
  check("ml", "laya-multilingual", "multilingual", 2);
  check("typed", "laya-typed-decisions", "typed-decisions", 3);
  const std::string path = folder.path().string();
  check(path, path, path, 3);
}

TEST(RouteTargets, DefaultRefused) {
  const auto check = [](std::string_view model, ErrorCode code) {
    const auto found = find_targets({}, model);
    ASSERT_FALSE(found.ok()) << model;
    EXPECT_EQ(found.error().code, code) << model;
  };
  check("auto", ErrorCode::kInvalidRequest);
  check(" Auto ", ErrorCode::kInvalidRequest);
  check("no-such-model", ErrorCode::kUnsupportedModel);
  check("starter", ErrorCode::kBackendUnavailable);  // no folder to look in
}

TEST(RouteTargets, ModelsFile) {
  testing::TempDir folder;
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.path() / "models.json") << text;
  };
  Environment environment;
  environment.models_file = (folder.path() / "models.json").string();
  write(R"({"english": "here", "laya-multilingual": {"repo": "org/multi", "sha256": ")" +
        std::string(64, 'a') + R"(", "revision": ")" + std::string(40, 'b') + R"("}})");
  const RouteTargets found = targets(environment, "laya");
  EXPECT_EQ(found.targets[0].name, "laya");
  EXPECT_EQ(found.targets[0].label, "english");
  EXPECT_EQ(found.targets[0].repo, std::nullopt);
  EXPECT_EQ(found.targets[0].revision, std::nullopt);
  EXPECT_EQ(found.targets[1].repo, "org/multi");
  EXPECT_EQ(found.targets[1].revision, std::string(40, 'b'));
  write("{");
  const auto broken = find_targets(environment, "laya");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidRequest);
}

TEST(Routes, EveryReason) {
  const RouteTargets found = targets({}, "laya");
  const auto check = [&](const char* text, std::string_view checkpoint, std::string_view routing) {
    const Route chosen = route(found, {text});
    EXPECT_EQ(chosen.checkpoint, checkpoint) << text;
    EXPECT_EQ(chosen.model_routing, routing) << text;
  };
  check("The parcel was left at the wrong door.", "laya", "language_english");
  check("Хочу вернуть деньги", "laya-multilingual", "language_non_latin_script");
  check("Der Kunde wurde zweimal belastet.", "laya-multilingual", "language_not_english");
  check("ok", "laya", "language_undecided_default");
  check("12345", "laya", "no_text_default");
}

TEST(Routes, TheDefaultAnswersOnlyWhatIsUndecided) {
  const RouteTargets found = targets({}, "laya-typed-decisions");
  EXPECT_EQ(route(found, {"ok"}).checkpoint, "laya-typed-decisions");
  EXPECT_EQ(route(found, {"ok"}).model, "typed-decisions");
  EXPECT_EQ(route(found, {"?"}).reason,
            "no letters detected in state; using default (typed-decisions)");
  EXPECT_EQ(route(found, {"?"}).checkpoint, "laya-typed-decisions");
  EXPECT_EQ(route(found, {"This is the end of it"}).checkpoint, "laya");
  EXPECT_EQ(route(found, {"日本語です"}).checkpoint, "laya-multilingual");
}

TEST(Routes, Printed) {
  const RouteTargets found = targets({}, "laya");
  EXPECT_EQ(print_route(route(found, {"α is the first of them"})),
            R"({"model":"english","repo":"convaiinnovations/laya","reason":"English Latin text",)"
            R"("detection":{"script":"latin","script_profile":{"latin":0.9411764705882353,)"
            R"("greek":0.058823529411764705},"language":"en","is_english":true,)"
            R"("language_undecided":false,"diacritic_rate":0.0,"non_latin_fraction":0.0588,)"
            R"("detector":"laya-0.3.20/unicode-16.0"},"workflow":null})");
  auto typed = targets({}, "typed");
  typed.targets[typed.fallback].repo.reset();
  EXPECT_EQ(print_route(route(typed, {"1"})),
            R"j({"model":"typed-decisions","repo":null,"reason":"no letters detected in state; )j"
            R"j(using default (typed-decisions)","detection":{"script":"unknown",)j"
            R"j("script_profile":{},"language":null,"is_english":true,"language_undecided":true,)j"
            R"j("diacritic_rate":0.0,"non_latin_fraction":0.0,)j"
            R"j("detector":"laya-0.3.20/unicode-16.0"},"workflow":null})j");
}

// Upstream can be told to send a known set of questions to the checkpoint for typed decisions; here
// it is only named.
TEST(LanguageRoute, NoTaskByDefault) {
  const RouteTargets found = targets({}, "laya");
  const std::pair<const char*, QuestionSet> known[] = {
      {"agent_trace_observability",
       questions({"urgency", "action", "risk", "outcome", "needs_review"})},
      {"customer_service",
       questions({"urgency", "action", "category", "churn_risk", "needs_human"})},
      {"invoice_processing",
       questions({"urgency", "disposition", "duplicate", "matches_order", "discrepancy_severity"})},
      {"security_incidents", questions({"urgency", "disposition", "severity", "true_positive",
                                        "credential_compromise"})}};
  for (const char* text : {"This is the end of it", "Das ist nicht mein Paket", "ok", "日本", ""}) {
    const auto without = choose_route(found, {text}, questions({"urgency"}));
    ASSERT_TRUE(without.ok());
    EXPECT_EQ(without->route.workflow, std::nullopt);
    EXPECT_NE(without->route.checkpoint, "laya-typed-decisions");
    for (const auto& [name, set] : known) {
      const auto with = choose_route(found, {text}, set);
      ASSERT_TRUE(with.ok());
      EXPECT_EQ(with->route.workflow, name);
      EXPECT_EQ(with->target, without->target) << name;
      EXPECT_EQ(with->route.checkpoint, without->route.checkpoint) << name;
      EXPECT_EQ(with->route.reason, without->route.reason) << name;
    }
  }
}

TEST(Routes, BrokenJsonState) {
  const auto choice = choose_route(targets({}, "laya"), {"[1", false, true}, {});
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard
