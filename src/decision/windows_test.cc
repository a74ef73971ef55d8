#include "decision/windows.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace layard::decision {
namespace {

PromptSpec spec(int max_len, int head_max_len) {
  PromptSpec out;
  out.max_len = max_len;
  out.head_max_len = head_max_len;
  return out;
}

WindowBudget budget(std::size_t head_tokens, const PromptSpec& prompt, WindowRequest request) {
  const std::array<std::size_t, 1> heads = {head_tokens};
  const auto result = window_budget(heads, prompt, request);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : WindowBudget{1, 1, 1, false, {}};
}

struct BudgetRow {
  WindowRequest request;
  std::size_t window;
  std::size_t stride;
  std::size_t warnings;
};

// A head of 97 tokens in 512/192 leaves room for 414.
TEST(Windows, Budget) {
  const BudgetRow rows[] = {{{0, 0}, 312, 156, 0},      {{1000, 0}, 414, 207, 1},
                            {{100, 0}, 100, 50, 0},     {{100, 100}, 100, 100, 0},
                            {{414, 0}, 414, 207, 0},    {{1000, 500}, 414, 207, 2},
                            {{1000, 414}, 414, 414, 1}, {{1, 0}, 1, 1, 0}};
  for (const BudgetRow& row : rows) {
    const WindowBudget got = budget(97, spec(512, 192), row.request);
    EXPECT_EQ(got.room, 414U);
    EXPECT_EQ(got.window, row.window);
    EXPECT_EQ(got.stride, row.stride);
    EXPECT_EQ(got.warnings.size(), row.warnings);
  }
}

TEST(Windows, TheTightestQuestionDecides) {
  const std::array<std::size_t, 3> heads = {97, 409, 40};
  const auto got = window_budget(heads, spec(512, 192), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->room, 102U);
  EXPECT_EQ(got->window, 102U);
  EXPECT_EQ(got->warnings.size(), 1U);  // narrowed by more than half
  const std::array<std::size_t, 1> mild = {300};
  EXPECT_TRUE(window_budget(mild, spec(512, 192), {})->warnings.empty());
  EXPECT_EQ(window_budget({}, spec(100, 90), {})->window, 64U);
}

TEST(Windows, Refused) {
  const auto check = [](std::size_t head_tokens, WindowRequest request, const char* part) {
    const std::array<std::size_t, 1> heads = {head_tokens};
    const auto result = window_budget(heads, spec(512, 192), request);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  };
  check(97, {100, 150},
        "predict_long: stride=150 steps past the 100-token window, so 50 tokens between every pair "
        "of windows would be read by no window at all; pass stride <= 100");
  check(97, {1000, 2000},
        "stride=2000 steps past the 414-token window these questions leave room for, so 1586");
  check(511, {}, "leaving no room for the state");
  check(600, {}, "leaving no room for the state");
}

TEST(Windows, SpansCoverEveryToken) {
  const auto check = [](std::size_t tokens, std::size_t window, std::size_t stride,
                        std::size_t count) {
    WindowBudget plan;
    plan.window = window;
    plan.stride = stride;
    plan.room = window;
    const std::vector<TokenSpan> spans = window_spans(tokens, plan);
    EXPECT_EQ(spans.size(), count);
    std::size_t covered = 0;
    for (const TokenSpan& span : spans) {
      EXPECT_LE(span.start, covered);
      EXPECT_LE(span.end - span.start, window);
      covered = span.end;
    }
    EXPECT_EQ(covered, tokens);
  };
  check(1000, 312, 156, 6);
  check(313, 312, 156, 2);
  check(312, 312, 156, 1);
  check(468, 312, 156, 2);
  check(469, 312, 156, 3);
  check(5, 1, 1, 5);
  check(0, 4, 2, 0);
}

TEST(Windows, FitsOnePass) {
  const WindowBudget usual = budget(97, spec(512, 192), {});
  EXPECT_TRUE(fits_one_pass(414, usual));
  EXPECT_FALSE(fits_one_pass(415, usual));
  const WindowBudget asked = budget(97, spec(512, 192), {100, 0});
  EXPECT_TRUE(fits_one_pass(100, asked));
  EXPECT_FALSE(fits_one_pass(101, asked));
}

TEST(Windows, BatchMax) {
  const PromptSpec prompt = spec(512, 192);
  WindowBudget plan;
  plan.window = 312;
  EXPECT_FALSE(window_batch_max(1000, plan, prompt));
  plan.window = 200;
  EXPECT_FALSE(window_batch_max(40, plan, prompt));  // 26 would have done: mild
  plan.window = 23;
  EXPECT_EQ(window_batch_max(413, plan, prompt), 30U);  // ceil(413 * 11 / 156)
  plan.window = 1;
  EXPECT_EQ(window_batch_max(3, plan, prompt), 1U);
}

AnswerSet window_answers(double yes, double confidence, std::int64_t truncated) {
  AnswerSet set;
  set.answers.push_back({"n", NoulAnswer{yes, 1 - yes, 1 - yes}, 0.5, {}});
  ScoreAnswer score;
  score.score = yes;
  score.answer_confidence = confidence;
  set.answers.push_back({"s", score, 0.5, {}});
  set.usage.ran = true;
  set.usage.input_tokens = 100;
  set.usage.state_tokens = 50;
  set.usage.state_tokens_dropped = truncated * 3;
  set.usage.truncated = truncated;
  if (truncated > 0) set.usage.truncated_questions = {"n"};
  return set;
}

TEST(Windows, Merge) {
  std::vector<AnswerSet> sets = {window_answers(0.2, 0.9, 0), window_answers(0.7, 0.4, 1),
                                 window_answers(0.7, 0.9, 0)};
  sets[0].usage.options = {{"c", 3, 2, 4}};
  sets[2].usage.options = {{"c", 3, 1, 4}, {"d", 5, 4, {}}};
  for (std::size_t w = 0; w < 3; ++w) {
    const auto orders = static_cast<std::int64_t>(w + 2);
    sets[w].stability = {{"n", orders, {}, 1, 0}, {"s", orders, {}, 1, 0}};
  }
  sets[0].warnings = {"w"};
  sets[1].warnings = {"w", "v"};
  const std::vector<TokenSpan> spans = {{0, 60}, {30, 90}, {60, 100}};
  const AnswerSet merged = merge_windows(sets, spans);
  EXPECT_EQ(merged.answers[0].window, (AnswerWindow{1, 30, 90, 3}));  // the first of equals
  EXPECT_EQ(std::get<NoulAnswer>(merged.answers[0].value).noul, 0.7);
  EXPECT_EQ(merged.answers[1].window, (AnswerWindow{0, 0, 60, 3}));
  EXPECT_EQ(std::get<ScoreAnswer>(merged.answers[1].value).score, 0.2);
  EXPECT_EQ(merged.warnings, (std::vector<std::string>{"w", "v"}));
  ASSERT_EQ(merged.stability.size(), 2U);  // of the windows that decided
  EXPECT_EQ(merged.stability[0].orders, 3);
  EXPECT_EQ(merged.stability[1].orders, 2);
  EXPECT_EQ(print_answers(merged, {false, JsonLayout::kCompact})
                .substr(print_answers(merged, {false, JsonLayout::kCompact}).find("\"usage\"")),
            R"("usage":{"input_tokens":300,"output_tokens":0,"state_tokens":150,)"
            R"("state_tokens_dropped":3,"truncated":1,"truncated_questions":[],)"
            R"("options":{"c":{"total":3,"distinct":1,"tokens_per_option":4},)"
            R"("d":{"total":5,"distinct":4,"tokens_per_option":null}},"windows":3},)"
            R"("warnings":["w","v"],"stability":{"n":{"orders":3},"s":{"orders":2}}})");
}

}  // namespace
}  // namespace layard::decision
