#include "gateway/route_explain.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "gateway/policy_evidence.h"

namespace layard::gateway {
namespace {

constexpr const char* kFile = R"({"version": 1, "default": "a", "min_confidence": 0.5,
  "classes": {"short": {"device": "b", "alternates": ["c"], "why": "replies\nsooner",
                        "evidence": "e"}, "long_doc": {"device": "a"}},
  "evidence": {"e": {"n": 24, "baseline": "a", "gain_ms": 310, "ci95_ms": [220, 400],
                     "date": "2026-09-28", "file": "m.json"}}})";

RoutePolicy policy(std::string_view text = kFile) {
  auto found = RoutePolicy::parse(text, "p.json");
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : RoutePolicy();
}

RequestClass found(const std::string& name, double confidence) {
  RequestClass out{name, confidence, {{"code", 0.1}, {"prose", 0.2}, {"short", 0.7}}, false};
  out.entropy_confidence = confidence;
  out.answer_confidence = 0.7;
  out.state_tokens = 40;
  return out;
}

const ExplainSource kSource{"p.json", std::string(64, 'a'), "starter",
                            *day_number("2026-10-10") * 86400};

std::string lines_of(const RouteExplanation& all) {
  std::string out;
  for (const ExplainedDevice& device : all.devices) {
    out += device.name +
           (device.picked      ? "+ "
            : device.candidate ? "- "
                               : "? ") +
           device.why + "\n";
  }
  return out;
}

void check(const RequestClass& request, const std::vector<std::string>& candidates,
           const std::string& expected) {
  EXPECT_EQ(lines_of(explain_route(policy(), "a text", request, candidates, kSource)), expected);
}

TEST(RouteExplain, WhyThisDeviceAndNotTheOthers) {
  check(found("short", 0.5), {"b", "c", "a", "z"},
        "b+ the row of short names it\n"
        "c- an alternate: used when what stands before it is no candidate\n"
        "a- the default: used when no row decides\n"
        "z- nothing names it for a request of short\n");
  check(found("short", 0.49), {"b", "c", "a"},
        "b- the row names it, and the confidence is below the threshold\n"
        "c- an alternate of a row that the confidence does not reach\n"
        "a+ the default: the confidence is below the threshold\n");
  check(found("short", 0.9), {"a", "c"},
        "a- the default: used when no row decides\n"
        "c+ the first alternate of the row of short that is a candidate\n"
        "b? the row of short names it, and it is no candidate\n");
  check(found("short", 0.9), {"a"},
        "a+ the default: the row's device is no candidate\n"
        "b? the row of short names it, and it is no candidate\n"
        "c? it is no candidate\n");
  check(found("code", 0.9), {"z", "b"},
        "z+ the first candidate: neither a row nor the default names one\n"
        "b- nothing names it for a request of code\n"
        "c? it is no candidate\n"
        "a? it is no candidate\n");
  check(found("code", 0.9), {"a"},
        "a+ the default: code has no row\n"
        "b? it is no candidate\n"
        "c? it is no candidate\n");
}

TEST(RouteExplain, ForAPerson) {
  const std::vector<std::string> candidates = {"a", "b"};
  const std::string text =
      print_explanation(explain_route(policy(), "文a", found("short", 0.5), candidates, kSource));
  for (const char* line :
       {"policy      p.json, version 1, default device a\n",
        "size        2 characters, fewer than the limit of 1024 characters: the model is asked\n",
        "asked       starter (40 tokens of the text)\n",
        "question    What kind of answer does this request need?\n",
        "options     code   source code, a script, a fix to a program, or an explanation of code\n",
        "            short  one word, one number or one sentence\n", "answer      code   0.1000\n",
        "            short  0.7000  <- the class\n",
        "confidence  0.5000 (confidence, 1 - H(p)/log(k)); answer_confidence is 0.7000\n",
        "threshold   0.5, reached: the row decides\n", "row         short -> b, else c\n",
        "why         replies sooner\n",
        "evidence    e: 310.0 ms gained over a, 95 % from 220.0 to 400.0, 24 requests, 2026-09-28 "
        "(12 days ago), m.json\n",
        "devices     a  not picked: the default: used when no row decides\n",
        "            b  picked: the row of short names it\n", "route       short 0.50 b\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("note"), std::string::npos);
}

TEST(RouteExplain, WhatTheThresholdDecides) {
  const auto line = [](const RequestClass& request, const std::vector<std::string>& candidates) {
    const std::string text =
        print_explanation(explain_route(policy(), "x", request, candidates, kSource));
    const std::size_t at = text.find("threshold");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line(found("short", 0.5), {"b"}), "threshold   0.5, reached: the row decides");
  EXPECT_EQ(line(found("short", 0.4), {"b"}), "threshold   0.5, not reached: no row counts");
  EXPECT_EQ(line(found("code", 0.6), {"b"}), "threshold   0.5, reached: and there is no row");
  EXPECT_EQ(line(found("short", 0.6), {"a"}),
            "threshold   0.5, reached: and the row's device is no candidate");
}

TEST(RouteExplain, BySize) {
  const RequestClass big{"long_doc", 1, {{"long_doc", 1}}, true};
  const std::vector<std::string> candidates = {"a", "b"};
  const std::string text =
      print_explanation(explain_route(policy(), std::string(2000, 'x'), big, candidates, kSource));
  EXPECT_NE(text.find("2000 characters, at least the limit of 1024 characters: long_doc, and the "
                      "model is not asked\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("question"), std::string::npos) << text;
  EXPECT_NE(text.find("evidence    none, and the default device needs none\n"), std::string::npos);
  const auto json = base::parse_json(
      explanation_json(explain_route(policy(), std::string(2000, 'x'), big, candidates, kSource)),
      {});
  EXPECT_TRUE(json->find("question")->is_null());
  EXPECT_TRUE(json->find("size_gate")->find("reached")->as_bool());
  EXPECT_EQ(json->find("answer")->find("by")->text(), "size");
}

TEST(RouteExplain, AnswersThatChangeNothingAreToldOf) {
  const std::vector<std::string> both = {"a", "b"};
  const std::vector<std::string> one = {"a"};
  EXPECT_FALSE(explain_route(policy(), "x", found("short", 1), both, kSource).answer_is_idle);
  const RouteExplanation idle = explain_route(policy(), "x", found("short", 1), one, kSource);
  EXPECT_TRUE(idle.answer_is_idle);
  EXPECT_NE(print_explanation(idle).find("note        whatever the answer"), std::string::npos);
  // Rows that agree with each other and not with the default: only a sure answer is idle.
  const char* rows = R"({"default": "a", "classes": {"code": {"device": "b"},
    "prose": {"device": "b"}, "short": {"device": "b"}}, "min_confidence": )";
  for (const char* threshold : {"0", "0.1"}) {
    EXPECT_EQ(explain_route(policy(rows + std::string(threshold) + "}"), "x", found("short", 1),
                            both, kSource)
                  .answer_is_idle,
              std::string_view(threshold) == "0");
  }
}

TEST(RouteExplain, AsData) {
  const std::vector<std::string> candidates = {"a", "b"};
  const auto json = base::parse_json(
      explanation_json(explain_route(policy(), "x", found("short", 0.5), candidates, kSource)), {});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("route")->text(), "short 0.50 b");
  EXPECT_EQ(json->find("policy")->find("sha256")->text(), std::string(64, 'a'));
  EXPECT_EQ(json->find("question")->find("options")->size(), 3U);
  EXPECT_EQ(json->find("answer")->find("gate_on")->text(), "confidence");
  EXPECT_EQ(json->find("answer")->find("threshold")->text(), "0.5");
  EXPECT_EQ(json->find("row")->find("evidence")->find("age_days")->text(), "12");
  EXPECT_EQ(json->find("devices")->items()[1].find("why")->text(), "the row of short names it");
  EXPECT_EQ(json->find("device")->text(), "b");
}

TEST(RouteExplain, TheOtherConfidence) {
  RoutePolicy other = policy();
  other.gate_on = GateOn::kAnswerConfidence;
  other.size_gate.reset();
  RequestClass request = found("short", 0.7);
  request.entropy_confidence = 0.3;
  request.state_tokens_dropped = 5;
  const std::vector<std::string> candidates = {"a"};
  const std::string text =
      print_explanation(explain_route(other, "x", request, candidates, kSource));
  EXPECT_NE(text.find("0.7000 (answer_confidence, the largest probability); confidence is 0.3000"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("the policy has no size gate: the model is asked"), std::string::npos);
  EXPECT_NE(text.find("40 tokens of the text, of which 5 were not read"), std::string::npos);
}

}  // namespace
}  // namespace layard::gateway
