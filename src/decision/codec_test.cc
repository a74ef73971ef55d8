#include "decision/codec.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "support/small_stack.h"
namespace layard {
namespace {

constexpr CodecOptions kSpacedOptions{false, JsonLayout::kSpaced};

TEST(Codec, QuestionList) {
  const auto set = parse_questions(R"(["Is it late?","Is it urgent?"])", {});
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->questions.size(), 2U);
  EXPECT_EQ(set->questions[1].id, "Is it urgent?");
  EXPECT_EQ(set->questions[1].type, QuestionType::kNoul);
  EXPECT_TRUE(parse_questions("[]", {})->questions.empty());
  EXPECT_TRUE(parse_questions("{}", {})->questions.empty());
}

TEST(Codec, QuestionsRefused) {
  const auto check = [](const char* json, const char* expected) {
    const auto set = parse_questions(json, {});
    ASSERT_FALSE(set.ok()) << json;
    EXPECT_EQ(set.error().code, ErrorCode::kInvalidRequest);
    EXPECT_TRUE(set.error().message.starts_with(expected)) << set.error().message;
  };
  check("null", "questions must be a dict of question id -> definition, got NoneType");
  check("\"x\"", "questions must be a dict of question id -> definition, got str");
  check("1", "questions must be a dict of question id -> definition, got int");
  check("[1]",
        "questions must be a dict of question id -> definition, got list; a list may only hold the "
        "texts of yes/no questions, and item 0 is a number");
  check(R"(["a",{"type":"noul"}])",
        "questions must be a dict of question id -> definition, got list; a list may only hold the "
        "texts of yes/no questions, and item 1 is an object");
  check(R"(["a","b","a"])", "questions: item 2 (\"a\") repeats item 0;");
  check(R"([""])", "question id must be a non-empty string, got ''");
  check("{", "");
}

TEST(Codec, State) {
  const auto check = [](const char* json, const char* expected, bool keep_end) {
    const auto state = parse_state(json);
    ASSERT_TRUE(state.ok()) << json;
    EXPECT_EQ(state->text, expected);
    EXPECT_EQ(state->keep_end, keep_end);
    EXPECT_EQ(state->json, json[0] != '"') << json;
  };
  check(R"("plain \u00e9")", "plain é", false);
  check(R"({"b":1,"a":2,"b":3})", R"({"b": 3, "a": 2})", false);
  check(R"(["x",{"n":123456789012345678901234567890}])",
        R"(["x", {"n": 123456789012345678901234567890}])", true);
  check("3", "3", false);
  check("true", "true", false);
  check(R"([1.0,1e16,1e-7,1E5,-0.0,1e22,"\/\u0007\u007f\u2028"])",
        "[1.0, 1e+16, 1e-07, 100000.0, -0.0, 1e+22, \"/\\u0007\x7f\xE2\x80\xA8\"]", true);
  EXPECT_EQ(parse_state("null").error().message,
            "state must not be None; pass a string, dict, or list");
}

TEST(Codec, Request) {
  const auto request = parse_request(
      R"({"context":["a"],"questions":["Is it?"],"overflow":"windows","model":"laya","x":1})", {});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->state, (State{R"(["a"])", true, true}));
  EXPECT_EQ(request->questions.questions.size(), 1U);
  EXPECT_EQ(request->overflow, OverflowPolicy::kWindows);
  EXPECT_EQ(request->model, "laya");
  const auto bare =
      parse_request(R"({"state":"","questions":{},"overflow":null,"model":null})", {});
  ASSERT_TRUE(bare.ok());
  EXPECT_FALSE(bare->overflow);
  EXPECT_FALSE(bare->model);
}

TEST(Codec, MembersASlipAway) {
  using Texts = std::vector<std::string>;
  const auto check = [](const std::string& members, const Texts& own, const Texts& questions) {
    const auto request = parse_request(R"({"state":"a",)" + members + "}", {});
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->warnings, own) << members;
    EXPECT_EQ(request->questions.warnings, questions) << members;
  };
  const std::string one = R"("questions":{"q":{"type":"noul","instructions":"?")";
  check(one + "}}", {}, {});
  check(one + R"(}},"overfow":1)",
        {R"(nothing reads the member "overfow"; did you mean "overflow"?)"}, {});
  check(one + R"(,"criterias":1,"name":2}},"user":"u","models":3,"n":1)",
        {R"(nothing reads the member "models"; did you mean "model"?)"},
        {R"(question 'q': nothing reads the member "criterias"; did you mean "criteria"?)"});
  // Others are not looked at, and there is an end.
  check(one + R"(}},"Metadata":1,"statement":2,"contents":3)", {}, {});
  std::string many;
  for (char c = 'm'; c <= 'z'; ++c) many += std::string(",\"mode") + c + "\":1";
  for (char c = 'A'; c <= 'K'; ++c) many += std::string(",\"mode") + c + "\":1";
  const auto request = parse_request(R"({"state":"a",)" + one + "}}" + many + "}", {});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->warnings.size(), 16U);
}

TEST(Codec, RequestRefused) {
  const auto check = [](const char* json, const char* part) {
    const auto request = parse_request(json, {});
    ASSERT_FALSE(request.ok()) << json;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(request.error().message.find(part), std::string::npos) << request.error().message;
  };
  check("[]", "must be an object with 'state' and 'questions', got a list");
  check("7", "must be an object with 'state' and 'questions', got a number");
  check(R"({"questions":{}})", "'state' is required");
  check(R"({"state":"a","context":"b","questions":{}})", "send only one");
  check(R"({"state":null,"context":"b","questions":{}})", "send only one");
  check(R"({"state":null,"questions":{}})", "must not be None");
  check(R"({"state":"a"})", "'questions' are required");
  check(R"({"state":"a","questions":null})", "'questions' are required");
  check(R"({"contxt":"a","questions":{}})",
        R"(are about; nothing reads the member "contxt"; did you mean "context"?)");
  check(R"({"state":"a","question":{}})", R"("question"; did you mean "questions"?)");
  check(R"({"state":"a","questions":{"q":{"type":"noul","instruction":"?"}}})",
        R"("instruction"; did you mean "instructions"?)");
  check(R"({"state":"a","questions":{},"overflow":"drop"})", R"(got "drop")");
  check(R"({"state":"a","questions":{},"overflow":1})", "got 1");
  check(R"({"state":"a","questions":{},"overflow":[true,null]})", "got [true, null]");
  check(R"({"state":"a","questions":{},"model":7})", "'model' must be a string, got 7");
  check(R"({"state":"a","questions":{},"model":false})", "'model' must be a string, got false");
  check(R"({"state":"a","questions":{"q":{"type":["noul"]}}})", "unknown type ['noul']");
}

// Everything the model reads and every answer key survives print and parse.
TEST(Codec, QuestionsRoundTrip) {
  const auto set =
      parse_questions(R"({"c":{"type":"choice","instructions":{"ask":"größer?"},"criteria":)"
                      R"({"a":"first: one","b":null,"d":{"x":1},"":""},"option_order":[3,1,0,2]},)"
                      R"("l":{"type":"choice","instructions":"x","criteria":[7,2.5,false,"7.0"]},)"
                      R"("s":{"type":"score","instructions":"x","criteria":["low",{"d":1},3]},)"
                      R"("n":{"type":"noul","instructions":"x"},)"
                      R"("m":{"type":"noul","instructions":"x","criteria":{"TRUE":"a: b"},)"
                      R"("labels":{"true":"J: a","false":"N"}}})",
                      {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  for (const auto layout : {JsonLayout::kIndented, JsonLayout::kSpaced, JsonLayout::kCompact}) {
    const auto again = parse_questions(print_questions(*set, {false, layout}), {});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, *set);
  }
}

AnswerSet sample_answers() {
  AnswerSet set;
  ChoiceAnswer choice;
  choice.choice = {"False", "false", "false"};
  choice.probabilities = {{"7", 0.25}, {"false", 0.75}};
  choice.confidence = 0.1887;
  choice.answer_confidence = 0.75;
  set.answers.push_back({"c", choice, 1.0, {}});
  set.answers.push_back({"s", ScoreAnswer{1.5, {"a", "b"}, {0.5, 0.5}, 0.0, 0.5}, 0.1, {}});
  set.answers.push_back({"n", NoulAnswer{0.25, 0.75, 0.75}, 0.0, AnswerWindow{1, 2, 3, 4}});
  set.usage = {10, true, 5, 2, 1, {"c"}, {{"c", 3, 2, 4}, {"s", 3, 2, {}}}, 1, false};
  return set;
}

TEST(Codec, AnswersPrint) {
  AnswerSet set = sample_answers();
  set.warnings = {"careful"};
  set.extra = {{"routing", R"({"reason":"x"})"}, {"model", "1"}, {"note", "not json"}};
  EXPECT_EQ(
      print_answers(set, kSpacedOptions),
      R"({"model": "laya-rl-agent", "answers": {"c": {"type": "choice", "choice": false, )"
      R"("probabilities": {"7": 0.25, "false": 0.75}, "confidence": 0.1887, )"
      R"("answer_confidence": 0.75, "action": {"act_probability": 1.0}}, "s": {"type": "score", )"
      R"("score": 1.5, "legend": {"0": "a", "1": "b"}, "probabilities": {"0": 0.5, "1": 0.5}, )"
      R"("confidence": 0.0, "answer_confidence": 0.5, "action": {"act_probability": 0.1}}, )"
      R"("n": {"type": "noul", "noul": 0.25, "confidence": 0.75, "answer_confidence": 0.75, )"
      R"("action": {"act_probability": 0.0}, "window": {"index": 1, "token_start": 2, )"
      R"("token_end": 3, "count": 4}}}, "usage": {"input_tokens": 10, "output_tokens": 0, )"
      R"("state_tokens": 5, "state_tokens_dropped": 2, "truncated": true, )"
      R"("truncated_questions": ["c"], "options": {"c": {"total": 3, "distinct": 2, )"
      R"("tokens_per_option": 4}, "s": {"total": 3, "distinct": 2, "tokens_per_option": null}}, )"
      R"("windows": 1}, "warnings": ["careful"], "routing": {"reason": "x"}, "note": "not json"})");
}

TEST(Codec, AnswersRoundTrip) {
  AnswerSet set = sample_answers();
  set.warnings = {"careful", "größer"};
  set.extra = {{"routing", R"({"reason":"x","list":[1,null]})"}};
  for (const bool summed : {false, true}) {
    set.usage.summed = summed;
    set.usage.truncated = summed ? 3 : 1;
    const auto again = parse_answers(print_answers(set, {}));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, set);
  }
  const auto empty = parse_answers(print_answers(AnswerSet{}, {}));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(*empty, AnswerSet{});
}

TEST(Codec, NoQuestionsGiveTwoUsageKeys) {
  EXPECT_EQ(print_answers(AnswerSet{}, kSpacedOptions),
            R"({"model": "laya-rl-agent", "answers": {}, )"
            R"("usage": {"input_tokens": 0, "output_tokens": 0}})");
}

TEST(Codec, AnswersRefused) {
  const auto check = [](const char* json, const char* part) {
    const auto set = parse_answers(json);
    ASSERT_FALSE(set.ok()) << json;
    EXPECT_EQ(set.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(set.error().message.find(part), std::string::npos) << set.error().message;
  };
  check("[]", "response must be an object");
  check("{}", "response/model must be a string");
  check(R"({"model":"m","answers":[],"usage":{}})", "response/answers must be an object");
  check(R"({"model":"m","answers":{},"usage":{}})", "usage/input_tokens must be an integer");
  check(R"({"model":"m","answers":{},"usage":{"input_tokens":99999999999999999999}})", "64 bits");
  check(R"({"model":"m","answers":{"a":{}},"usage":{}})", "answers/a/type must be a string");
  check(R"({"model":"m","answers":{"a":1},"usage":{}})", "answers/a must be an object");
  check(R"({"model":"m","answers":{"a":{"type":"box"}},"usage":{}})", "one of choice, score, noul");
  check(R"({"model":"m","answers":{"a":{"type":"noul"}},"usage":{}})", "answers/a/noul");
  check(R"({"model":"m","answers":{"a":{"type":"noul","noul":1e999}},"usage":{}})",
        "answers/a/noul must be a number in the range of a double");
  check(R"({"model":"m","answers":{"a":{"type":"choice","choice":[]}},"usage":{}})",
        "answers/a/choice must be a label");
  check(R"({"model":"m","answers":{},"usage":{"input_tokens":0},"warnings":[1]})",
        "response/warnings must be an array of strings");
}

// Every place of a request and a response that takes any JSON, as deep as the parser allows.
void check_deep(const std::string& deep) {
  EXPECT_TRUE(context_from_text(deep).ok());
  EXPECT_TRUE(parse_state(deep).ok());
  const std::pair<std::string, bool> fields[] = {
      {R"("type":"noul","instructions":)" + deep, true},
      {R"("type":"noul","instructions":"x","criteria":{"true":)" + deep + "}", true},
      {R"("type":"noul","instructions":"x","labels":)" + deep, false},
      {R"("type":"noul","instructions":"x","option_order":)" + deep, false},
      {R"("type":"choice","instructions":"x","criteria":{"a":)" + deep + "}", true},
      {R"("type":"choice","instructions":"x","criteria":[)" + deep + "]", false},
      {R"("type":"score","instructions":"x","criteria":[)" + deep + "]", true},
      {R"("type":)" + deep, false},
  };
  for (const auto& [field, accepted] : fields) {
    const std::string questions = R"({"q":{)" + field + "}}";
    const auto request =
        parse_request(R"({"state":)" + deep + R"(,"questions":)" + questions + "}", {});
    EXPECT_EQ(request.ok(), accepted) << field.substr(0, 60);
    if (!request.ok()) continue;
    EXPECT_TRUE(parse_questions(print_questions(request->questions, {}), {}).ok());
  }
  const auto answers =
      parse_answers(R"({"model":"m","answers":{},"usage":{"input_tokens":0},"more":)" + deep + "}");
  ASSERT_TRUE(answers.ok());
  EXPECT_NE(print_answers(*answers, {}).find("more"), std::string::npos);
}

TEST(Codec, DepthDoesNotCostStack) {
  for (const bool objects : {false, true}) {
    testing::run_on_small_stack([objects] { check_deep(testing::nested_json(500, objects)); });
  }
}

}  // namespace
}  // namespace layard
