#include "gateway/decision_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace layard::gateway {
namespace {

DecisionRecord whole_record() {
  DecisionRecord record;
  record.time_ms = 1'796'119'530'007;
  record.request_id = "gw00-1";
  record.conversation = "0f1e";
  record.caller = "alice";
  record.api = "chat_completions";
  record.model_requested = "auto";
  record.model_sent = "chat-27b";
  record.model_reported = "chat-27b-q4";
  record.checkpoint = "starter";
  record.policy_hash = "abcd";
  record.candidates = {"gpu0", "gpu1"};
  record.chars = 12;
  record.tokens = 5;
  record.decision = {"code",  0.123456, {{"code", 0.75}, {"prose", 0.25}}, DecisionSource::kModel,
                     1.23456, 0.5};
  record.served = {.device = "gpu0",
                   .status = 200,
                   .ttft_ms = 10.5,
                   .total_ms = 99.0004,
                   .wait_ms = 2,
                   .prompt_tokens = 7,
                   .cached_tokens = 3,
                   .completion_tokens = 9,
                   .decode_tps = 31.666,
                   .cancelled = true,
                   .overflow = true};
  return record;
}

TEST(DecisionRecord, EveryFieldInItsOrder) {
  EXPECT_EQ(decision_line(whole_record()),
            R"({"ts":"2026-12-01T10:05:30.007Z","request_id":"gw00-1","conversation":"0f1e",)"
            R"("class":"code","confidence":0.1235,"probabilities":{"code":0.75,"prose":0.25},)"
            R"("source":"model","chars":12,"tokens":5,"checkpoint":"starter","policy_hash":"abcd",)"
            R"("device":"gpu0","candidates":["gpu0","gpu1"],"decision_ms":1.235,"queue_ms":0.5,)"
            R"("ttft_ms":10.5,"prompt_tokens":7,"completion_tokens":9,"decode_tps":31.67,)"
            R"("status":200,"cancelled":true,"cached_tokens":3,"total_ms":99.0,"wait_ms":2.0,)"
            R"("overflow":true,"caller":"alice","api":"chat_completions","model_requested":"auto",)"
            R"("model_sent":"chat-27b","model_reported":"chat-27b-q4"})");
}

TEST(DecisionRecord, WhatNobodySaidIsNull) {
  DecisionRecord record;
  record.api = "embeddings";
  EXPECT_EQ(decision_line(record),
            R"({"ts":"1970-01-01T00:00:00.000Z","request_id":"","conversation":null,)"
            R"("class":null,"confidence":null,"probabilities":{},)"
            R"("source":"default","chars":0,"tokens":null,"checkpoint":null,"policy_hash":"",)"
            R"("device":null,"candidates":[],"decision_ms":0.0,"queue_ms":0.0,)"
            R"("ttft_ms":null,"prompt_tokens":null,"completion_tokens":null,"decode_tps":null,)"
            R"("status":0,"cancelled":false,"cached_tokens":null,"total_ms":0.0,"wait_ms":0.0,)"
            R"("overflow":false,"caller":null,"api":"embeddings","model_requested":null,)"
            R"("model_sent":null,"model_reported":null})");
}

TEST(DecisionRecord, NothingIsACountToo) {
  DecisionRecord record = whole_record();
  record.tokens = 0;
  record.served.prompt_tokens = record.served.completion_tokens = record.served.cached_tokens = 0;
  record.served.ttft_ms = record.served.decode_tps = 0;
  const std::string line = decision_line(record);
  for (const char* part : {R"("tokens":0,)", R"("prompt_tokens":0,)", R"("completion_tokens":0,)",
                           R"("cached_tokens":0,)", R"("ttft_ms":0.0,)", R"("decode_tps":0.0,)"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
}

TEST(DecisionRecord, TheTextOnlyWhereItWasAskedFor) {
  DecisionRecord record = whole_record();
  EXPECT_EQ(decision_line(record).find("\"text\""), std::string::npos);
  record.text = "two\nlines \"quoted\"";
  const std::string line = decision_line(record);
  EXPECT_TRUE(line.ends_with(R"(,"text":"two\nlines \"quoted\""})")) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << "a line is one line";
}

TEST(DecisionRecord, WhatClientsWroteIsQuoted) {
  DecisionRecord record = whole_record();
  record.model_requested = "a\"b\n\xE2\x80\xA8";
  const std::string line = decision_line(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = base::parse_json(line, base::JsonLimits{});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->find("model_requested")->text(), record.model_requested);
}

TEST(DecisionRecord, NumbersThatAreNoneAreZero) {
  DecisionRecord record = whole_record();
  record.decision.confidence = std::numeric_limits<double>::quiet_NaN();
  record.served.decode_tps = std::numeric_limits<double>::infinity();
  const std::string line = decision_line(record);
  EXPECT_TRUE(base::parse_json(line, base::JsonLimits{}).ok()) << line;
  EXPECT_NE(line.find(R"("confidence":0.0)"), std::string::npos);
  EXPECT_NE(line.find(R"("decode_tps":0.0)"), std::string::npos);
}

TEST(DecisionRecord, RouteField) {
  const auto check = [](const Decision& decision, std::string_view device, const char* expected) {
    EXPECT_EQ(route_field(decision, device), expected);
  };
  check({"code", 0.4449, {}, DecisionSource::kModel, 0, 0}, "gpu0", "code 0.44 gpu0");
  check({"long_doc", 1, {}, DecisionSource::kGate, 0, 0}, "rocm", "long_doc 1.00 rocm");
  check({"code", 0.5, {}, DecisionSource::kSticky, 0, 0}, "", "code 0.50 -");
  check({"", 0.9, {}, DecisionSource::kOverride, 0, 0}, "gpu0", "- 0.00 gpu0");
  check({}, "", "- 0.00 -");
}

}  // namespace
}  // namespace layard::gateway
