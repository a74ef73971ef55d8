#include "server/decisions.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

using base::JsonValue;

JsonValue json(const std::string& text) {
  return base::parse_json(text, base::JsonLimits{}).value();
}

void check(const std::string& request, const std::string& expected) {
  const auto asked = read_decisions(json(request));
  ASSERT_TRUE(std::holds_alternative<AskedDecisions>(asked)) << request;
  EXPECT_EQ(base::write_json(std::get<AskedDecisions>(asked).body, base::JsonStyle::kCompact),
            expected);
}

void check_fault(const std::string& request, int status, const std::string& detail) {
  const auto asked = read_decisions(json(request));
  ASSERT_TRUE(std::holds_alternative<Fault>(asked)) << request;
  EXPECT_EQ(std::get<Fault>(asked), (Fault{status, detail}));
}

TEST(ServerDecisions, BecomeOurQuestions) {
  check(
      R"({"model":"starter","input":"a","questions":[
             {"type":"predicate","name":"angry","instructions":"Is the writer angry?"}]})",
      R"({"model":"starter","state":"a","questions":{"angry":{"type":"noul",)"
      R"("instructions":"Is the writer angry?"}}})");
  check(
      R"({"input":[{"role":"user","content":"a"}],"questions":[
             {"type":"choice","instructions":"which","choices":[
               {"value":"x","description":"the first"},{"value":"y"},"z"]}]})",
      R"({"state":[{"role":"user","content":"a"}],"questions":{"q0":{"type":"choice",)"
      R"("instructions":"which","criteria":{"x":"the first","y":null,"z":null}}}})");
  check(
      R"({"input":"a","overflow":"error","questions":[
             {"type":"predicate","instructions":"x"},
             {"type":"score","name":"mood","levels":[
               {"label":"low","description":"can wait"},{"label":"high"},"top"]}]})",
      R"({"overflow":"error","state":"a","questions":{"q0":{"type":"noul",)"
      R"("instructions":"x"},"mood":{"type":"score","criteria":["low: can wait","high",)"
      R"("top"]}}})");
  // Our own names of what is translated do not get past it.
  check(R"({"state":"other","context":"other","input":"a","questions":[
             {"type":"predicate","instructions":"x"}]})",
        R"({"state":"a","questions":{"q0":{"type":"noul","instructions":"x"}}})");
}

TEST(ServerDecisions, Refused) {
  const std::string members = "request body must be an object with 'input' and 'questions' fields";
  check_fault("[]", 400, members);
  check_fault(R"({"input":"a"})", 400, members);
  check_fault(R"({"questions":[]})", 400, members);
  check_fault(R"({"input":{},"questions":[]})", 400,
              "'input' must be a string or a list of messages");
  check_fault(R"({"input":"a","questions":{}})", 400, "'questions' must be a non-empty list");
  check_fault(R"({"input":"a","questions":[]})", 400, "'questions' must be a non-empty list");
  const auto one = [](const std::string& question) {
    return R"({"input":"a","questions":[)" + question + "]}";
  };
  check_fault(one("3"), 422, "questions[0]: must be an object");
  check_fault(one("{}"), 422, "questions[0]: 'type' must be one of predicate, choice, score");
  check_fault(one(R"({"type":"noul"})"), 422,
              "questions[0]: 'type' must be one of predicate, choice, score");
  check_fault(one(R"({"type":"predicate","name":""})"), 422,
              "questions[0]: 'name' must be a non-empty string");
  check_fault(one(R"({"type":"predicate","name":"q1"},{"type":"predicate"})"), 422,
              "questions[1]: the name 'q1' is taken by another question");
  check_fault(one(R"({"type":"choice"})"), 422,
              "questions[0]: a choice question needs 'choices', a list of {value, description}");
  check_fault(one(R"({"type":"choice","choices":[]})"), 422,
              "questions[0]: a choice question needs 'choices', a list of {value, description}");
  check_fault(one(R"({"type":"choice","choices":[{"value":1}]})"), 422,
              "questions[0]: each of 'choices' needs 'value', a string");
  check_fault(one(R"({"type":"choice","choices":["a",{"value":"a"}]})"), 422,
              "questions[0]: 'a' is twice among 'choices'");
  check_fault(one(R"({"type":"choice","choices":[{"value":"a","description":[]}]})"), 422,
              "questions[0]: 'description' must be a string");
  check_fault(one(R"({"type":"score","levels":[{"label":"a","description":3}]})"), 422,
              "questions[0]: 'description' must be a string");
  check_fault(one(R"({"type":"score","levels":{}})"), 422,
              "questions[0]: a score question needs 'levels', a list of {label, description}");
  check_fault(one(R"({"type":"score","levels":[{}]})"), 422,
              "questions[0]: each of 'levels' needs 'label', a string");
}

TEST(ServerDecisions, AnswersInRequestOrder) {
  const auto asked = std::get<AskedDecisions>(read_decisions(json(
      R"({"input":"a","questions":[
           {"type":"score","name":"mood","levels":["low","high"]},
           {"type":"predicate","name":"angry","instructions":"x"},
           {"type":"choice","choices":["x","y"]}]})")));
  ServiceAnswer answer;
  AnswerSet& set = answer.prediction.answers;
  ScoreAnswer score{.score = .25,
                    .legend = {"low", "high"},
                    .probabilities = {.75, .25},
                    .confidence = .2,
                    .answer_confidence = .75};
  NoulAnswer noul{.noul = .25, .confidence = .75, .answer_confidence = .75};
  ChoiceAnswer choice{.choice = {"y", "y", "\"y\""},
                      .probabilities = {{"x", .4}, {"y", .6}},
                      .confidence = .1,
                      .answer_confidence = .6};
  set.answers.push_back({.id = "mood", .value = score, .act_probability = 0, .window = {}});
  set.answers.push_back({.id = "angry", .value = noul, .act_probability = 0, .window = {}});
  set.answers.push_back({.id = "q2", .value = choice, .act_probability = 0, .window = {}});
  set.usage.input_tokens = 9;
  set.extra.push_back({"routing", R"({"model":"starter"})"});
  const JsonValue out = json(decisions_json(answer, asked, {}, "req-1"));
  EXPECT_EQ(base::write_json(*out.find("answers"), base::JsonStyle::kCompact),
            R"([{"type":"score","name":"mood","score":0.25,"probabilities":[{"label":"low",)"
            R"("probability":0.75},{"label":"high","probability":0.25}],"confidence":0.75},)"
            R"({"type":"predicate","name":"angry","probability":0.25,"confidence":0.75},)"
            R"({"type":"choice","name":"q2","choice":"y","probabilities":[{"value":"x",)"
            R"("probability":0.4},{"value":"y","probability":0.6}],"confidence":0.6}])");
  std::string names;
  for (const auto& [key, value] : out.members()) names += key + " ";
  EXPECT_EQ(names, "id object model answers usage routing layard ");
  EXPECT_EQ(out.find("id")->text(), "req-1");
  EXPECT_EQ(base::write_json(*out.find("usage"), base::JsonStyle::kCompact),
            R"({"input_tokens":9,"output_tokens":0,"total_tokens":9})");
}

}  // namespace
}  // namespace layard::server
