#include "gateway/measure_stream.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

constexpr const char* kRole = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
constexpr const char* kToken = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
constexpr const char* kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":9,"
    "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n";
constexpr const char* kTimings =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":9},"
    "\"timings\":{\"cache_n\":5,\"predicted_per_second\":20.5}}\r\n\r\n";
constexpr const char* kDone = "data: [DONE]\n\n";

// Pieces come one a millisecond from the 10th on.
Result<MeasuredRequest> timed(std::initializer_list<std::string> pieces) {
  StreamTimer timer(1'000'000);
  std::int64_t now_ns = 10'000'000;
  for (const std::string& piece : pieces) {
    timer.feed(piece, now_ns);
    now_ns += 1'000'000;
  }
  timer.finish(now_ns);
  MeasuredRequest out;
  LAYARD_TRY(timer.result(out));
  return out;
}

TEST(MeasureStream, TimesAndTokens) {
  const auto found = timed({kRole, kToken, kToken, kUsage, kDone});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_DOUBLE_EQ(found->ttft_ms, 10);
  EXPECT_DOUBLE_EQ(found->total_ms, 13);
  EXPECT_EQ(found->prompt_tokens, 20);
  EXPECT_EQ(found->cached_tokens, 4);
  EXPECT_EQ(found->output_tokens, 9);
  EXPECT_EQ(found->tokens_from, TokenSource::kUsage);
}

TEST(MeasureStream, WhereTheTokensComeFrom) {
  const auto timings = timed({kToken, kTimings, kDone});
  EXPECT_EQ(timings->tokens_from, TokenSource::kTimings);
  EXPECT_EQ(timings->cached_tokens, 5);
  const auto counted = timed({std::string(kRole) + kToken + kToken, kToken, kDone});
  EXPECT_EQ(counted->tokens_from, TokenSource::kEvents);
  EXPECT_EQ(counted->output_tokens, 3);
  EXPECT_EQ(counted->prompt_tokens, std::nullopt);
  EXPECT_DOUBLE_EQ(counted->ttft_ms, 9);
}

TEST(MeasureStream, EventsMayBeCutAnywhere) {
  const std::string all = std::string(kRole) + ": comment\n\n" + kToken + kToken + kTimings + kDone;
  StreamTimer timer(0);
  for (const char byte : all) timer.feed(std::string_view(&byte, 1), 5'000'000);
  timer.finish(6'000'000);
  MeasuredRequest out;
  ASSERT_TRUE(timer.result(out).ok());
  EXPECT_EQ(out.output_tokens, 9);
  EXPECT_DOUBLE_EQ(out.total_ms, 5);
}

TEST(MeasureStream, StreamsThatAreNoReply) {
  EXPECT_NE(timed({}).error().message.find("broke"), std::string::npos);
  EXPECT_NE(timed({kToken, kUsage}).error().message.find("broke"), std::string::npos);
  EXPECT_NE(timed({kRole, kDone}).error().message.find("no token"), std::string::npos);
  EXPECT_NE(timed({kToken, "data: {\"error\":{\"message\":\"x\"}}\n\n", kDone})
                .error()
                .message.find("an error"),
            std::string::npos);
  EXPECT_EQ(timed({"{\"choices\":[]}"}).error().code, ErrorCode::kBackendUnavailable);
}

}  // namespace
}  // namespace layard::gateway
