#include "gateway/decision_log_reader.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(DecisionLogReader, WhatAPolicyIsComputedFrom) {
  const auto log = read_decision_log(
      R"({"ts": "2026-11-20T10:00:00Z", "class": "short", "confidence": 0.4, "source": "model",)"
      R"( "device": "a", "decision_ms": 12.5, "ttft_ms": 90, "prompt_tokens": 20,)"
      R"( "completion_tokens": 8, "decode_tps": 20, "status": 200, "cancelled": false,)"
      R"( "cached_tokens": 5, "turns": 3, "later": {"x": [1]}})"
      "\n\r\n"
      R"({"class": "long_doc", "source": "gate", "decision_ms": null})"
      "\n",
      "d.jsonl");
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_EQ(log->decisions.size(), 2U);
  EXPECT_EQ(log->lines, 2U);
  const LoggedDecision& first = log->decisions[0];
  EXPECT_EQ(first.class_name, "short");
  EXPECT_TRUE(first.asked);
  EXPECT_EQ(first.decision_ms, 12.5);
  EXPECT_EQ(first.prompt_tokens, 20);
  EXPECT_EQ(first.output_tokens, 8);
  EXPECT_EQ(first.turns, 3);
  EXPECT_EQ(first.cached_tokens, 5);
  EXPECT_FALSE(log->decisions[1].asked);
  EXPECT_EQ(log->decisions[1].decision_ms, std::nullopt);
  EXPECT_EQ(broken_lines_text(*log), "");
}

// Lines that are no use and lines that are broken, and the good one among them.
TEST(DecisionLogReader, BrokenLinesAreCountedWithTheirNumbers) {
  std::string text = "{\"class\": \"code\"}\n";
  for (const char* unused :
       {R"({"class": "code", "status": 503})", R"({"class": "code", "cancelled": true})",
        R"({"class": "-"})", R"({"class": null})", "{}"}) {
    text += std::string(unused) + "\n";
  }
  for (const char* broken : {"{\"class\": \"co", "[]", R"({"class": 3})", R"({"status": "x"})",
                             R"({"decision_ms": -1})", R"({"turns": 1e300})"}) {
    text += std::string(broken) + "\n";
  }
  const auto log = read_decision_log(text, "d.jsonl");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->decisions.size(), 1U);
  EXPECT_EQ(log->unused, 5U);
  EXPECT_EQ(log->broken, 6U);
  EXPECT_EQ(broken_lines_text(*log), "6 of 12 lines are broken: 7, 8, 9, 10, 11, 12");
  for (int i = 0; i < 20; ++i) text += "{\n";
  const std::string said = broken_lines_text(*read_decision_log(text, "d.jsonl"));
  EXPECT_TRUE(said.starts_with("26 of 32 lines are broken: 7, ")) << said;
  EXPECT_TRUE(said.ends_with(", 16, ...")) << said;
}

TEST(DecisionLogReader, NoLogAtAllIsRefused) {
  EXPECT_TRUE(read_decision_log("", "d.jsonl").ok());
  EXPECT_FALSE(read_decision_log("hello\nworld\n", "d.jsonl").ok());
  const std::string long_line = "{\"class\": \"" + std::string(kDecisionLineBytesMax, 'x') + "\"}";
  EXPECT_FALSE(read_decision_log(long_line, "d.jsonl").ok());
}

}  // namespace
}  // namespace layard::gateway
