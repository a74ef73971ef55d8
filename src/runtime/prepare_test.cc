#include "runtime/prepare.h"

#include <gtest/gtest.h>

#include <map>

namespace layard::runtime {
namespace {

// One id a word, in order of first use from 10, and back.
class Words final : public decision::TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    std::string word;
    for (const char c : std::string(text) + " ") {
      if (c != ' ') {
        word += c;
      } else if (!word.empty()) {
        const auto [entry, added] =
            ids_.try_emplace(word, static_cast<std::int32_t>(10 + ids_.size()));
        if (added) words_.push_back(word);
        ids.push_back(entry->second);
        word.clear();
      }
    }
    return ids;
  }

  std::string decode(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const std::int32_t id : ids) {
      if (!text.empty()) text += ' ';
      text += words_[static_cast<std::size_t>(id - 10)];
    }
    return text;
  }

 private:
  mutable std::map<std::string, std::int32_t> ids_;
  mutable std::vector<std::string> words_;
};

class Prepare : public ::testing::Test {
 protected:
  Prepare() {
    tools_.spec.max_len = 96;
    tools_.spec.head_max_len = 24;
    tools_.spec.cls_id = 2;
    tools_.spec.sep_id = 3;
    tools_.spec.mask_id = 4;
    tools_.encoder = &words_;
    tools_.decode = [this](std::span<const std::int32_t> ids) { return words_.decode(ids); };
    questions_ = *parse_questions(R"(["Refund?", "Urgent?"])", {});
  }

  static State text(int words) {
    State state;
    for (int i = 0; i < words; ++i) state.text += "w" + std::to_string(i) + " ";
    return state;
  }

  Words words_;
  PromptTools tools_;
  QuestionSet questions_;
};

TEST_F(Prepare, CutReportsWhatWasDropped) {
  const auto prepared = prepare(text(400), questions_, {OverflowPolicy::kCut}, tools_);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(prepared->passes.size(), 1U);
  EXPECT_EQ(prepared->longest_row(), 96U);
  EXPECT_TRUE(prepared->truncated());
  ASSERT_EQ(prepared->warnings.size(), 2U);
  EXPECT_NE(prepared->warnings[0].find("of the text's 400 tokens"), std::string::npos);
  const auto fits = prepare(text(5), questions_, {OverflowPolicy::kCut}, tools_);
  EXPECT_FALSE(fits->truncated());
  EXPECT_TRUE(fits->warnings.empty());
}

TEST_F(Prepare, AnEmptyTextIsToldButAnswered) {
  const auto check = [&](const std::string& text, bool warned) {
    for (const auto policy :
         {OverflowPolicy::kCut, OverflowPolicy::kError, OverflowPolicy::kWindows}) {
      const auto prepared = prepare({text}, questions_, {policy}, tools_);
      ASSERT_TRUE(prepared.ok()) << prepared.error().message;
      ASSERT_EQ(prepared->warnings.size(), warned ? 1U : 0U) << text;
      if (warned) {
        EXPECT_EQ(prepared->warnings[0],
                  "the text is empty: the answers follow from the questions alone");
      }
    }
  };
  check("", true);
  check("   ", true);
  check("\n\xC2\xA0", true);  // a token of this tokenizer, and still blank
  check("a", false);
}

TEST_F(Prepare, WindowsCoverTheText) {
  const auto prepared = prepare(text(400), questions_, {OverflowPolicy::kWindows}, tools_);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  ASSERT_EQ(prepared->passes.size(), prepared->spans.size());
  EXPECT_GT(prepared->spans.size(), 4U);
  EXPECT_EQ(prepared->spans.front().start, 0U);
  EXPECT_EQ(prepared->spans.back().end, 400U);
  for (std::size_t i = 1; i < prepared->spans.size(); ++i) {
    EXPECT_LE(prepared->spans[i].start, prepared->spans[i - 1].end);
  }
}

TEST_F(Prepare, TooManyWindowsAreRefused) {
  const auto prepared = prepare(text(200000), questions_, {OverflowPolicy::kWindows}, tools_);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(prepared.error().message.find("4096"), std::string::npos) << prepared.error().message;
}

TEST_F(Prepare, CollapsedOptionsAreNamed) {
  const auto same =
      parse_questions(R"({"q":{"type":"choice","instructions":"x","criteria":)"
                      R"(["a a a a a a a a a a a b","a a a a a a a a a a a c","d"]}})",
                      {});
  const auto prepared = prepare(text(3), *same, {OverflowPolicy::kCut}, tools_);
  ASSERT_TRUE(prepared.ok());
  ASSERT_EQ(prepared->warnings.size(), 1U);
  EXPECT_NE(prepared->warnings[0].find("only 2 of its 3 options"), std::string::npos);
}

constexpr const char* kTwo = R"({"c":{"type":"choice","instructions":"x","criteria":["a","b","d"]},
                                 "n":{"type":"noul","instructions":"y"}})";

TEST_F(Prepare, OrdersAreRowsOfOnePass) {
  const auto two = *parse_questions(kTwo, {});
  const auto one = prepare(text(3), two, {}, tools_);
  EXPECT_TRUE(one->ordered.empty());
  EXPECT_EQ(&one->asked(two), &two);
  const auto prepared = prepare(text(3), two, {OverflowPolicy::kCut, 3}, tools_);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  ASSERT_EQ(prepared->passes.size(), 1U);
  const auto& rows = prepared->passes[0];
  ASSERT_EQ(rows.size(), 4U);  // three of the choice, one of the noul
  EXPECT_EQ(rows[0].ids, one->passes[0][0].ids);
  EXPECT_EQ(rows[3].ids, one->passes[0][1].ids);
  // Each is the row of the question with that order written into it.
  for (std::size_t i = 0; i < 3; ++i) {
    QuestionSet by_hand = two;
    by_hand.questions.pop_back();
    by_hand.questions[0].option_order = prepared->asked(two).questions[i].option_order;
    EXPECT_EQ(prepare(text(3), by_hand, {}, tools_)->passes[0][0].ids, rows[i].ids) << i;
  }
  EXPECT_TRUE(prepared->warnings.empty());
}

TEST_F(Prepare, OrdersOfEveryWindowAndOneWarningAQuestion) {
  const auto two = *parse_questions(kTwo, {});
  const auto once = prepare(text(400), two, {OverflowPolicy::kWindows}, tools_);
  const auto prepared = prepare(text(400), two, {OverflowPolicy::kWindows, 2}, tools_);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  EXPECT_EQ(prepared->spans, once->spans);
  ASSERT_EQ(prepared->passes.size(), prepared->spans.size());
  for (const auto& pass : prepared->passes) EXPECT_EQ(pass.size(), 3U);
  EXPECT_EQ(prepare(text(400), two, {OverflowPolicy::kCut, 2}, tools_)->warnings,
            prepare(text(400), two, {}, tools_)->warnings);
}

TEST_F(Prepare, OrdersOutOfRangeAreRefused) {
  const auto check = [&](const QuestionSet& questions, const Layout& layout, const char* expected) {
    const auto refused = prepare(text(400), questions, layout, tools_);
    ASSERT_FALSE(refused.ok()) << expected;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(refused.error().message.find(expected), std::string::npos) << refused.error().message;
  };
  check(questions_, {OverflowPolicy::kCut, 0}, "orders must be from 1 to 24, got 0");
  check(questions_, {OverflowPolicy::kCut, 25}, "orders must be from 1 to 24, got 25");
  QuestionSet many;
  for (int i = 0; i < 700; ++i) {
    many.questions.push_back(parse_questions(kTwo, {})->questions[0]);
    many.questions.back().id = std::to_string(i);
  }
  check(many, {OverflowPolicy::kCut, 24},
        "700 questions in 24 orders are 16800 rows, more than 16384; ask fewer questions or fewer");
  many.questions.resize(500);
  check(many, {OverflowPolicy::kWindows, 24}, "windows of 500 questions in 24 orders are");
}

TEST_F(Prepare, FinishDecodesEveryPass) {
  const auto prepared = prepare(text(400), questions_, {OverflowPolicy::kWindows}, tools_);
  std::vector<encoder::RowOutput> outputs(prepared->passes.size() * 2, {{0.0F, 0.0F}, {0.0F}});
  outputs[4].logits = {0.0F, 3.0F};  // window 2, first question
  const auto answers = finish(questions_, *prepared, outputs, {});
  ASSERT_TRUE(answers.ok());
  EXPECT_EQ(answers->answers[0].window->index, 2);
  EXPECT_EQ(answers->usage.windows, static_cast<std::int64_t>(prepared->spans.size()));
  outputs[0].logits[0] = std::numeric_limits<float>::quiet_NaN();
  const auto broken = finish(questions_, *prepared, outputs, {});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace layard::runtime
