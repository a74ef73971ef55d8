#include "decision/prompt.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace layard::decision {
namespace {

using Ids = std::vector<std::int32_t>;

// One id a word, in order of first use from 10.
class WordEncoder final : public TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    ++calls;
    texts.emplace_back(text);
    Ids ids;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      ids.push_back(
          known.emplace(word, 10 + static_cast<std::int32_t>(known.size())).first->second);
    }
    return ids;
  }
  mutable std::map<std::string, std::int32_t> known;
  mutable std::size_t calls = 0;
  mutable std::vector<std::string> texts;
};

// One id a byte.
class CharacterEncoder final : public TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    Ids ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
};

PromptSpec spec(int max_len, int head_max_len) {
  PromptSpec out;
  out.max_len = max_len;
  out.head_max_len = head_max_len;
  out.cls_id = 2;
  out.sep_id = 3;
  out.mask_id = 4;
  out.mask_text = "[MASK]";
  return out;
}

QuestionSet questions(const std::string& json) {
  auto set = parse_questions(json, {});
  EXPECT_TRUE(set.ok()) << json;
  return set.ok() ? *set : QuestionSet{};
}

QuestionSet team_question() {
  return questions(R"({"q":{"type":"choice","instructions":"Which team ?",)"
                   R"("criteria":{"billing":"refunds","tech":null}}})");
}

PromptRow only_row(const Result<std::vector<PromptRow>>& rows) {
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message);
  return rows.ok() && rows->size() == 1 ? rows->front() : PromptRow{};
}

// The worked examples of upstream's prompt builder over a word tokenizer.
TEST(Prompt, WordExample) {
  const WordEncoder encoder;
  // Upstream's ids count from the question; ours encode the state first, so name the words first.
  encoder.encode("choice question: Which team ? billing: refunds tech");
  const PromptRow row = only_row(build_rows(team_question(), State{"I was charged twice", false},
                                            spec(512, 192), encoder, OverflowPolicy::kCut));
  EXPECT_EQ(row.ids, (Ids{2, 10, 11, 12, 13, 14, 3, 4, 15, 16, 4, 17, 3, 18, 19, 20, 21, 3}));
  EXPECT_EQ(row.markers, (Ids{7, 10}));
  EXPECT_EQ(row.type, QuestionType::kChoice);
  EXPECT_EQ(row.stats.state_tokens, 4U);
  EXPECT_EQ(row.stats.state_tokens_used, 4U);
  EXPECT_FALSE(row.stats.truncated());
  EXPECT_FALSE(row.stats.row_cut);
  EXPECT_EQ(row.stats.head_tokens, 13U);
  EXPECT_EQ(row.stats.options, 2U);
  EXPECT_EQ(row.stats.options_distinct, 2U);
  EXPECT_FALSE(row.stats.tokens_per_option);
  EXPECT_TRUE(row.positions.empty());
}

TEST(Prompt, StateIsCutAtTheEndAndConversationsAtTheStart) {
  for (const bool keep_end : {false, true}) {
    const WordEncoder encoder;
    encoder.encode("choice question: Which team ? billing: refunds tech I was charged twice");
    const PromptRow row = only_row(build_rows(team_question(), State{"a b c d e f g h", keep_end},
                                              spec(16, 192), encoder, OverflowPolicy::kCut));
    const Ids tail = keep_end ? Ids{4, 17, 3, 28, 29, 3} : Ids{4, 17, 3, 22, 23, 3};
    ASSERT_EQ(row.ids.size(), 16U);
    EXPECT_EQ(Ids(row.ids.end() - 6, row.ids.end()), tail);
    EXPECT_EQ(row.stats.state_tokens_used, 2U);
    EXPECT_EQ(row.stats.state_tokens_dropped(), 6U);
    EXPECT_TRUE(row.stats.truncated());
  }
}

struct OptionRow {
  int options;
  std::size_t head_tokens;
  std::int32_t first_marker;
  std::size_t cap;  // 0: none
};

// Upstream's head lengths with a character tokenizer, head_max_len 192.
TEST(Prompt, OptionShrinking) {
  constexpr OptionRow kRows[] = {{1, 67, 38, 0},   {2, 95, 38, 0},   {6, 195, 26, 0},
                                 {7, 195, 19, 25}, {8, 195, 18, 22}, {10, 195, 24, 17},
                                 {20, 195, 34, 8}, {44, 195, 18, 4}, {45, 195, 14, 4},
                                 {50, 211, 10, 4}, {77, 319, 10, 4}, {100, 411, 10, 4}};
  for (const OptionRow& row : kRows) {
    std::string criteria;
    for (int i = 0; i < row.options; ++i) {
      criteria += (i > 0 ? "," : "") + std::string("\"option number ") + std::to_string(i) +
                  " with words\"";
    }
    const QuestionSet set =
        questions(R"({"q":{"type":"choice","instructions":"which label applies","criteria":[)" +
                  criteria + "]}}");
    const PromptHead head = build_head(set.questions[0], spec(512, 192), CharacterEncoder());
    EXPECT_EQ(head.stats.head_tokens, row.head_tokens) << row.options;
    EXPECT_EQ(head.markers.front(), row.first_marker) << row.options;
    EXPECT_EQ(head.stats.tokens_per_option.value_or(0), row.cap) << row.options;
    EXPECT_EQ(head.markers.size(), static_cast<std::size_t>(row.options));
  }
}

TEST(Prompt, OptionCapIs48Tokens) {
  const QuestionSet set = questions(R"({"q":{"type":"choice","instructions":"x","criteria":[")" +
                                    std::string(300, 'a') + R"(","b"]}})");
  const PromptHead head = build_head(set.questions[0], spec(512, 192), CharacterEncoder());
  EXPECT_EQ(head.markers[1] - head.markers[0], 49);
}

TEST(Prompt, CollapsedOptionsAreCounted) {
  const auto distinct = [](const std::string& criteria, int max_len, int head_max_len) {
    const QuestionSet set =
        questions(R"({"q":{"type":"choice","instructions":"which","criteria":)" + criteria + "}}");
    const PromptHead head =
        build_head(set.questions[0], spec(max_len, head_max_len), CharacterEncoder());
    EXPECT_EQ(head.stats.options, 4U);
    return std::pair(head.stats.options_distinct, head.stats.tokens_per_option);
  };
  const std::string lights =
      R"({"iot_hue_lightup":"iot hue lightup","iot_hue_lightoff":"iot hue lightoff",)"
      R"("iot_hue_lightdim":"iot hue lightdim","iot_hue_lightchange":"iot hue lightchange"})";
  EXPECT_LT(distinct(lights, 128, 24).first, 4U);
  EXPECT_EQ(distinct(lights, 128, 24).second, 4U);
  EXPECT_EQ(distinct(R"(["alpha","bravo","charlie","delta"])", 128, 24).first, 4U);
  EXPECT_FALSE(distinct(lights, 512, 256).second);
}

TEST(Prompt, MaskTextBecomesOneSpace) {
  const WordEncoder encoder;
  const QuestionSet set =
      questions(R"({"q":{"type":"choice","instructions":"is [MASK] it[MASK][MASK]?",)"
                R"("criteria":{"yes[MASK]":"[MASK]"}}})");
  EXPECT_EQ(set.questions[0].labels[0].key, "yes[MASK]");
  only_row(
      build_rows(set, State{"[MASK]a[MASK", false}, spec(512, 192), encoder, OverflowPolicy::kCut));
  EXPECT_EQ(encoder.texts,
            (std::vector<std::string>{" a[MASK", "choice question: is   it  ?", " yes :  "}));
}

TEST(Prompt, EmptyMaskTextChangesNothing) {
  const WordEncoder encoder;
  PromptSpec plain = spec(64, 32);
  plain.mask_text = "";
  EXPECT_EQ(encode_state(State{"a b", false}, plain, encoder).size(), 2U);
  EXPECT_EQ(encoder.texts.front(), "a b");
}

TEST(Prompt, StateIsEncodedOnce) {
  const WordEncoder encoder;
  const auto rows = build_rows(questions(R"(["a?","b?","c?"])"), State{"text", false},
                               spec(512, 192), encoder, OverflowPolicy::kCut);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->size(), 3U);
  EXPECT_EQ(encoder.calls, 1U + 3U * 3U);
  EXPECT_EQ(encoder.texts.front(), "text");
  EXPECT_EQ(encoder.texts[1], "noul question: a?");
  EXPECT_EQ(encoder.texts[2], " false: no, the statement does not hold");
}

TEST(Prompt, NoQuestionsEncodeNothing) {
  const WordEncoder encoder;
  const auto rows =
      build_rows({}, State{"text", false}, spec(512, 192), encoder, OverflowPolicy::kError);
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(rows->empty());
  EXPECT_EQ(encoder.calls, 0U);
}

TEST(Prompt, OptionOrderSetsTheSlots) {
  const WordEncoder encoder;
  encoder.encode("choice question: x a b c");
  const QuestionSet set =
      questions(R"({"q":{"type":"choice","instructions":"x","criteria":["a","b","c"],)"
                R"("option_order":[2,0,1]}})");
  const PromptHead head = build_head(set.questions[0], spec(512, 192), encoder);
  EXPECT_EQ(head.ids, (Ids{2, 10, 11, 12, 3, 4, 15, 4, 13, 4, 14, 3}));
}

std::string many_options(int count) {
  std::string criteria;
  for (int i = 0; i < count; ++i) {
    criteria += (i > 0 ? "," : "") + std::string("\"label") + std::to_string(i) + "\"";
  }
  return R"({"q":{"type":"choice","instructions":"x","criteria":[)" + criteria + "]}}";
}

TEST(Prompt, TooManyOptions) {
  // 1 + 8 + 1 tokens, then 4 an option: 126 of 300 markers lie below 512.
  const auto check = [](int count, int max_len, int head_max_len, const char* expected) {
    const auto rows =
        build_rows(questions(many_options(count)), State{"t", false}, spec(max_len, head_max_len),
                   CharacterEncoder(), OverflowPolicy::kCut);
    ASSERT_FALSE(rows.ok());
    EXPECT_EQ(rows.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(rows.error().message, expected);
  };
  check(300, 512, 192,
        "question 'q': only 126 of its 300 option markers fit in max_len=512 with "
        "head_max_len=192 spent on the question; lower head_max_len, raise max_len, or use fewer "
        "options");
  check(600, 512, 192,
        "question 'q': only 126 of its 600 option markers fit in max_len=512 with "
        "head_max_len=192 spent on the question; lower head_max_len, raise max_len, or use fewer "
        "options");
  check(2, 8, 8,
        "question 'q': only 0 of its 2 option markers fit in max_len=8 with head_max_len=8 spent "
        "on the question; lower head_max_len, raise max_len, or use fewer options");
}

// Beyond both lengths no more options are encoded than could ever have a marker.
TEST(Prompt, HopelessQuestionsCostLittle) {
  const WordEncoder encoder;
  const auto rows = build_rows(questions(many_options(20000)), State{"t", false}, spec(64, 32),
                               encoder, OverflowPolicy::kCut);
  EXPECT_FALSE(rows.ok());
  EXPECT_LE(encoder.calls, 2U + 64U);
}

TEST(Prompt, OverflowError) {
  const WordEncoder encoder;
  const auto at = [&encoder](const char* text) {
    return build_rows(team_question(), State{text, false}, spec(16, 192), encoder,
                      OverflowPolicy::kError);
  };
  EXPECT_TRUE(at("a b").ok());
  const auto rows = at("a b c");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(rows.error().message,
            "question 'q': the state needs 3 tokens and 2 are available (max_len=16, the question "
            "takes 13); shorten the state or use overflow 'cut' or 'windows'");
}

TEST(Prompt, LongStates) {
  std::string words;
  for (int i = 0; i < 4000; ++i) words += "w ";
  const auto row = [&words](int max_len, int head_max_len) {
    const WordEncoder encoder;
    return only_row(build_rows(questions(R"(["Refund ?"])"), State{words, false},
                               spec(max_len, head_max_len), encoder, OverflowPolicy::kCut));
  };
  const PromptRow usual = row(512, 192);
  EXPECT_EQ(usual.stats.state_tokens_used + usual.stats.state_tokens_dropped(), 4000U);
  EXPECT_EQ(usual.ids.size(), 512U);
  EXPECT_TRUE(usual.stats.truncated());
  EXPECT_FALSE(usual.stats.row_cut);
  // The head alone fills the row: the state is dropped whole, which is no error.
  const PromptRow full = row(15, 8);
  EXPECT_EQ(full.stats.state_tokens_dropped(), 4000U);
  EXPECT_EQ(full.ids.size(), 15U);
  EXPECT_TRUE(full.stats.row_cut);
}

TEST(Prompt, ParallelLayout) {
  // Markers 4, 6, 9, head of 11, length 14.
  const WordEncoder encoder;
  PromptSpec parallel = spec(512, 192);
  parallel.parallel_options = true;
  const QuestionSet set =
      questions(R"({"q":{"type":"choice","instructions":"?","criteria":["a","b c",""]}})");
  QuestionSet shorter = set;
  shorter.questions[0].instructions = "";
  const PromptRow row =
      only_row(build_rows(shorter, State{"s t", false}, parallel, encoder, OverflowPolicy::kCut));
  EXPECT_EQ(row.markers, (Ids{4, 6, 9}));
  EXPECT_EQ(row.positions, (Ids{0, 1, 2, 3, 4, 5, 4, 5, 6, 4, 7, 8, 9, 10}));
  EXPECT_EQ(row.options, (Ids{0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 0, 0, 0, 0}));
}

TEST(Prompt, ParallelLayoutIsCutWithTheRow) {
  const WordEncoder encoder;
  PromptSpec parallel = spec(14, 192);
  parallel.parallel_options = true;
  const PromptRow row = only_row(build_rows(team_question(), State{"a b c d", false}, parallel,
                                            encoder, OverflowPolicy::kCut));
  EXPECT_EQ(row.ids.size(), 14U);
  EXPECT_EQ(row.positions.size(), 14U);
  EXPECT_EQ(row.options.size(), 14U);
  EXPECT_EQ(row.positions.back(), 11);
}

}  // namespace
}  // namespace layard::decision
