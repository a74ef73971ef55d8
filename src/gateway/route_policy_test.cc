#include "gateway/route_policy.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

// A file of the 1bit router, as it is.
constexpr const char* kFile =
    R"({"about": "x", "min_confidence": 0.16, "default": "hrx", "extra": 1,
  "classes": {"code": {"device": "hrx", "why": "decodes fastest"},
              "long_doc": {"device": "rocm", "alternates": ["hrx", "cpu"]}}})";

RoutePolicy parsed(std::string_view json) {
  auto policy = RoutePolicy::parse(json, "policy.json");
  EXPECT_TRUE(policy.ok()) << policy.error().message;
  return policy.ok() ? *policy : RoutePolicy();
}

std::vector<std::string> option_names(const RoutePolicy& policy) {
  std::vector<std::string> names;
  for (const ClassOption& option : policy.options) names.push_back(option.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(RoutePolicy, AFileOfTheSeedsRouter) {
  const RoutePolicy policy = parsed(kFile);
  EXPECT_DOUBLE_EQ(policy.min_confidence, 0.16);
  EXPECT_EQ(policy.default_device, "hrx");
  EXPECT_EQ(policy.instructions, "What kind of answer does this request need?");
  EXPECT_EQ(option_names(policy), (Names{"code", "prose", "short"}));
  EXPECT_EQ(policy.classes(), (Names{"code", "prose", "short", "long_doc"}));
  EXPECT_EQ(policy.devices(), (Names{"hrx", "rocm", "cpu"}));
  ASSERT_TRUE(policy.size_gate.has_value());
  EXPECT_EQ(policy.size_gate->min, 1024);
  EXPECT_EQ(policy.size_gate->unit, GateUnit::kChars);
  EXPECT_EQ(policy.size_gate->scope, GateScope::kHead);
  EXPECT_EQ(policy.row("code")->why, "decodes fastest");
  EXPECT_EQ(policy.row("prose"), nullptr);
}

TEST(RoutePolicy, BuiltIn) {
  const RoutePolicy& policy = RoutePolicy::built_in();
  EXPECT_EQ(policy.devices(), Names{"vulkan"});
  for (const std::string& name : policy.classes()) EXPECT_NE(policy.row(name), nullptr) << name;
  EXPECT_DOUBLE_EQ(policy.min_confidence, 0.16);
}

TEST(RoutePolicy, QuestionAndGate) {
  const RoutePolicy policy = parsed(R"({"classes": {"big": {"device": "a"}},
    "question": {"instructions": "Which?", "checkpoint": "typed-decisions",
                 "orders": 2, "options": {"x": "one", "y": "two", "big": "three"}},
    "size_gate": {"min": 10, "unit": "bytes", "scope": "all", "class": "big"},
    "gate_on": "answer_confidence"})");
  EXPECT_EQ(option_names(policy), (Names{"x", "y"}));
  EXPECT_EQ(policy.checkpoint, "typed-decisions");
  EXPECT_EQ(policy.orders, 2);
  EXPECT_EQ(parsed(R"({"classes": {}})").orders, 1);
  EXPECT_EQ(policy.size_gate->min, 10);
  EXPECT_EQ(policy.size_gate->unit, GateUnit::kBytes);
  EXPECT_EQ(policy.size_gate->scope, GateScope::kAll);
  // A system prompt makes no long document, unless the file is of the 1bit router.
  EXPECT_EQ(parsed(R"({"version": 1, "default": "a", "classes": {}})").size_gate->scope,
            GateScope::kFirstUser);
  EXPECT_EQ(policy.gate_on, GateOn::kAnswerConfidence);
  EXPECT_EQ(policy.default_device, "vulkan");
  for (const char* none : {"null", "false"}) {
    const RoutePolicy open = parsed(std::string(R"({"classes": {}, "size_gate": )") + none + "}");
    EXPECT_FALSE(open.size_gate.has_value());
    EXPECT_EQ(option_names(open), (Names{"code", "prose", "short", "long_doc"}));
  }
}

void check_refused(std::string_view json, const std::string& part) {
  const auto policy = RoutePolicy::parse(json, "the file");
  ASSERT_FALSE(policy.ok()) << json;
  EXPECT_EQ(policy.error().code, ErrorCode::kInvalidRequest);
  const std::string& text = policy.error().message;
  EXPECT_TRUE(text.starts_with("route policy: ") && text.ends_with(" in the file")) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(RoutePolicy, Refusals) {
  check_refused("", "the file is empty");
  check_refused("{", "line 1");
  check_refused("[]", "must be an object");
  check_refused("{}", "needs a \"classes\" object");
  check_refused(R"({"classes": []})", "needs a \"classes\" object");
  check_refused(R"({"classes": {"poem": {"device": "a"}}})", "unknown class \"poem\"");
  check_refused(R"({"classes": {"code": {}}})", "class \"code\" needs a \"device\"");
  check_refused(R"({"classes": {"code": {"device": ""}}})", "class \"code\" needs a \"device\"");
  check_refused(R"({"classes": {"code": 3}})", "class \"code\" needs a \"device\"");
  check_refused(R"({"classes": {"code": {"device": "a", "alternates": [1]}}})", "alternates");
  for (const char* number : {"-0.1", "1.1", "\"0.5\"", "true"}) {
    check_refused(std::string(R"({"classes": {}, "min_confidence": )") + number + "}",
                  "min_confidence");
  }
  check_refused(R"({"classes": {}, "default": 1})", "default");
  check_refused(R"({"classes": {}, "gate_on": "luck"})", "gate_on");
  check_refused(R"({"classes": {}, "size_gate": 1024})", "size_gate");
  check_refused(R"({"classes": {}, "size_gate": {"min": 0}})", "/size_gate/min");
  check_refused(R"({"classes": {}, "size_gate": {"unit": "tokens"}})", "/size_gate/unit");
  check_refused(R"({"classes": {}, "size_gate": {"scope": "last"}})", "/size_gate/scope");
  check_refused(R"({"classes": {}, "question": "?"})", "question");
  check_refused(R"({"classes": {}, "question": {"options": {"a": "b"}}})", "/question/options");
  check_refused(R"({"classes": {}, "question": {"options": {"a": "b", "c": 1}}})", "option \"c\"");
  for (const char* orders : {"0", "25", "2.5", "\"2\"", "null"}) {
    check_refused(std::string(R"({"classes": {}, "question": {"orders": )") + orders + "}}",
                  "\"orders\" must be a whole number from 1 to 24");
  }
  check_refused(std::string(200, '['), "route policy");
}

// One message: the first error with its place, and how many more there are.
TEST(RoutePolicy, TheFirstOfManyErrors) {
  const auto policy =
      RoutePolicy::parse("{\"classes\": {},\n \"default\": 1, \"gate_on\": 2}", "p");
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.error().message,
            "route policy: \"default\" must be a text, found 1; put it in quotes (/default) at "
            "line 2, column 13, and 1 more (layard route check) in p");
}

// What was good once stays usable: only `route check` knows the day.
TEST(RoutePolicy, OldEvidenceIsNoReasonNotToStart) {
  const auto policy = RoutePolicy::parse(R"({"version": 1, "default": "a",
    "classes": {"code": {"device": "b", "evidence": "e"}},
    "evidence": {"e": {"n": 24, "baseline": "a", "gain_ms": 310, "ci95_ms": [220, 400],
                       "date": "1999-01-01"}}})",
                                         "p");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  EXPECT_EQ(policy->version, 1);
}

// Without the gate its class is asked about in the words the policy has for it.
TEST(RoutePolicy, RemovedGate) {
  RoutePolicy seed = RoutePolicy::built_in();
  seed.remove_gate();
  EXPECT_EQ(option_names(seed), (Names{"code", "prose", "short", "long_doc"}));
  EXPECT_EQ(seed.options[3].description,
            "reading a long pasted document, log, transcript, table or file");
  seed.remove_gate();  // there is none any more
  EXPECT_EQ(seed.options.size(), 4U);
  RoutePolicy own = parsed(R"({"classes": {}, "size_gate": {"class": "big"},
    "question": {"options": {"big": "a lot of text", "x": "one", "y": "two"}}})");
  own.remove_gate();
  EXPECT_EQ(option_names(own), (Names{"x", "y", "big"}));
  EXPECT_EQ(own.options[2].description, "a lot of text");
}

TEST(RoutePolicy, Pick) {
  const RoutePolicy policy = parsed(kFile);
  const auto check = [&](std::string_view name, double confidence, const Names& candidates,
                         const std::string& expected) {
    EXPECT_EQ(pick_device(policy, name, confidence, candidates), expected) << name << confidence;
  };
  check("long_doc", 1, {"hrx", "rocm"}, "rocm");
  check("long_doc", 0.16, {"hrx", "rocm"}, "rocm");  // inclusive
  check("long_doc", 0.159, {"rocm", "hrx"}, "hrx");  // the default
  check("long_doc", 1, {"zinc", "hrx"}, "hrx");      // its device is not there
  check("prose", 1, {"rocm", "hrx"}, "hrx");         // no row
  check("prose", 1, {"zinc", "npu"}, "zinc");        // nor the default
  check("prose", 1, {}, "");
}

TEST(RoutePolicy, PickSaysWhy) {
  const auto check = [](const RoutePolicy& policy, std::string_view name, double confidence,
                        const Names& candidates, RowUse row, DeviceRule rule) {
    const DeviceChoice choice = choose_device(policy, name, confidence, candidates);
    EXPECT_EQ(choice.row, row) << name << confidence;
    EXPECT_EQ(choice.rule, rule) << name << confidence;
  };
  const RoutePolicy policy = parsed(kFile);
  check(policy, "long_doc", 1, {"rocm"}, RowUse::kUsed, DeviceRule::kRow);
  check(policy, "long_doc", 0.1, {"rocm", "hrx"}, RowUse::kBelowThreshold, DeviceRule::kDefault);
  check(policy, "long_doc", 1, {"cpu", "hrx"}, RowUse::kDeviceAbsent, DeviceRule::kDefault);
  check(policy, "prose", 1, {"rocm"}, RowUse::kNoRow, DeviceRule::kFirstCandidate);
  check(policy, "prose", 1, {}, RowUse::kNoRow, DeviceRule::kNone);
  // The router whose files have no version knows no alternates.
  RoutePolicy versioned = policy;
  versioned.version = 1;
  check(versioned, "long_doc", 1, {"cpu", "hrx"}, RowUse::kDeviceAbsent, DeviceRule::kAlternate);
  EXPECT_EQ(pick_device(versioned, "long_doc", 1, Names{"cpu", "zinc"}), "cpu");
  EXPECT_EQ(pick_device(policy, "long_doc", 1, Names{"cpu", "zinc"}), "cpu");  // as the first
  EXPECT_EQ(pick_device(policy, "long_doc", 1, Names{"zinc", "cpu"}), "zinc");
  EXPECT_EQ(pick_device(versioned, "long_doc", 1, Names{"zinc", "cpu"}), "cpu");
}

}  // namespace
}  // namespace layard::gateway
