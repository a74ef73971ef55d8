#include "gateway/evidence_file.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

MeasuredEvidence small_evidence() {
  MeasuredEvidence out;
  out.profile = "desk, 16 cores";
  out.date = "2026-11-20";
  out.model_sha256 = std::string(64, 'a');
  out.devices = {{"a", "http://127.0.0.1:9001", "chat", 0}, {"b", "", "", 16e9}};
  out.cases = {{"c1", "short", 12}};
  out.requests = {{MeasuredKind::kCase, "short", "a", "c1", 1, 0, 200, 50.1234, 900.5, 20, 3, 17,
                   TokenSource::kTimings},
                  {MeasuredKind::kLength, "", "b", "length-64", 2, 7, 200, 80, 80, std::nullopt, 0,
                   1, TokenSource::kEvents}};
  out.discarded = {{2, "b", 0.04123}};
  return out;
}

TEST(EvidenceFile, WhatIsWrittenIsReadBack) {
  const std::string text = write_evidence(small_evidence());
  const auto read = parse_evidence(text, "e.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(write_evidence(*read), text);
  EXPECT_EQ(read->devices[1].resident_bytes, 16e9);
  EXPECT_EQ(read->requests[0].ttft_ms, 50.123);
  EXPECT_EQ(read->requests[0].prompt_tokens, 20);
  EXPECT_EQ(read->requests[1].prompt_tokens, std::nullopt);
  EXPECT_EQ(read->requests[1].tokens_from, TokenSource::kEvents);
  EXPECT_TRUE(read->is_discarded(2));
  EXPECT_FALSE(read->is_discarded(1));
  EXPECT_EQ(read->find_device("c"), nullptr);
}

TEST(EvidenceFile, AnEmptyOneIsReadBack) {
  MeasuredEvidence none;
  none.date = "2026-11-20";
  EXPECT_TRUE(parse_evidence(write_evidence(none), "e.json").ok());
}

// What replaces what in the text above, and a word of the refusal.
TEST(EvidenceFile, WhatIsNoEvidenceIsRefused) {
  struct Case {
    const char* from;
    const char* to;
    const char* said;
  };
  const Case cases[] = {
      {"\"version\": 1", "\"version\": 2", "version 2"},
      {"\"version\": 1", "\"versio\": 1", "version is missing"},
      {"2026-11-20", "2026-02-30", "date must be a day"},
      {"\"aaaa", "\"Zaaa", "model_sha256"},
      {"\"kind\": \"case\"", "\"kind\": \"chat\"", "requests[0].kind must be one of case, length"},
      {"\"status\": 200", "\"status\": 20", "requests[0].status"},
      {"\"ttft_ms\": 50.123", "\"ttft_ms\": -1", "requests[0].ttft_ms"},
      {"\"total_ms\": 900.5", "\"total_ms\": 9", "total_ms must be at least ttft_ms"},
      {"\"device\": \"b\", \"prompt\"", "\"device\": \"c\", \"prompt\"",
       "requests[1].device is none of"},
      {"\"name\": \"b\"", "\"name\": \"a\"", "devices[1].name stands twice"},
      {"\"output_tokens\": 17", "\"output_tokens\": 1.5", "output_tokens"},
      {"\"requests\": [", "\"requests\": 1, \"x\": [", "requests must be a list"},
      {"{\n \"version\"", "[ \"version\"", "line 2"},
  };
  for (const auto& [from, to, said] : cases) {
    std::string text = write_evidence(small_evidence());
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, std::string_view(from).size(), to);
    const auto read = parse_evidence(text, "e.json");
    ASSERT_FALSE(read.ok()) << to;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(read.error().message.find("e.json"), std::string::npos) << read.error().message;
    if (std::string_view(to).front() != '[') {
      EXPECT_NE(read.error().message.find(said), std::string::npos) << read.error().message;
    }
  }
}

TEST(EvidenceFile, ClassesAreBounded) {
  MeasuredEvidence many = small_evidence();
  for (int i = 0; i < 63; ++i) many.cases.push_back({"x", "class-" + std::to_string(i), 1});
  EXPECT_TRUE(parse_evidence(write_evidence(many), "e.json").ok());
  many.cases.push_back({"x", "one-more", 1});
  EXPECT_FALSE(parse_evidence(write_evidence(many), "e.json").ok());
}

}  // namespace
}  // namespace layard::gateway
