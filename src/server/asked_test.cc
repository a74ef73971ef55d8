#include "server/asked.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

const KnownModels& known() {
  static const KnownModels models{[](std::string_view) { return false; },
                                  [] { return std::vector<std::string>{"starter"}; }};
  return models;
}

OrFault<Asked> read(Endpoint endpoint, const std::string& body) {
  return read_asked(endpoint, body, {}, known(), "id-1");
}

void check_fault(Endpoint endpoint, const std::string& body, int status,
                 const std::string& detail) {
  const auto asked = read(endpoint, body);
  ASSERT_TRUE(std::holds_alternative<Fault>(asked)) << body;
  EXPECT_EQ(std::get<Fault>(asked).status, status) << body;
  EXPECT_NE(std::get<Fault>(asked).detail.find(detail), std::string::npos)
      << std::get<Fault>(asked).detail;
}

TEST(ServerAsked, States) {
  for (const char* text : {R"("a text")", R"("")", "3", "true", "2.50", R"({"a":1,"b":"é"})",
                           R"([{"role":"user"}])", "[]", R"([1e5,-0.0,1E+400])"}) {
    const auto value = base::parse_json(text, base::JsonLimits{}).value();
    EXPECT_EQ(state_of(value), parse_state(text).value()) << text;
  }
}

TEST(ServerAsked, SystemOne) {
  const auto asked =
      std::get<Asked>(read(Endpoint::kSystemOne,
                           R"({"state":["a",1e999],"model":"laya","overflow":"error","questions":{
            "team":{"type":"choice","criteria":["x","y"]}}})"));
  ASSERT_EQ(asked.requests.size(), 1U);
  const Request& request = asked.requests[0].request;
  EXPECT_EQ(request.state.text, R"(["a", Infinity])");
  EXPECT_TRUE(request.state.keep_end);
  EXPECT_EQ(request.model, "laya");
  EXPECT_EQ(request.overflow, OverflowPolicy::kError);
  ASSERT_EQ(request.questions.questions.size(), 1U);
  EXPECT_EQ(request.questions.questions[0].instructions, "team");  // the name stands in
}

TEST(ServerAsked, WhatTheCodecRefusesIsA422) {
  const auto check = [](const char* body, const char* detail) {
    check_fault(Endpoint::kSystemOne, body, 422, detail);
  };
  check(R"({"state":"a","questions":{"q":{"type":"box","instructions":"x"}}})",
        "question 'q': unknown type 'box'; use one of ['choice', 'noul', 'score']");
  check(R"({"state":"a","questions":{"q":{"type":["noul"]}}})", "question 'q': unknown type");
  check(R"({"state":"a","questions":{"q":{"type":"noul"}}})", "question 'q'");
  check(R"({"state":"a","questions":{"q":{"type":"choice","instructions":"x","criteria":{}}}})",
        "question 'q': a choice question needs at least one criterion");
  check(R"({"state":"a","context":"b","questions":{}})", "'state' and 'context'");
  check(R"({"state":"a","overflow":"maybe","questions":{}})", "'overflow' must be one of");
  check_fault(Endpoint::kBatch, R"({"states":["a"],"overflow":"maybe","questions":{}})", 422,
              "'overflow' must be one of");
  check(R"({"state":"a","orders":0,"questions":{}})", "'orders' must be a whole number");
  check(R"({"state":"a","stability":2,"questions":{}})", "'stability' must be true or false");
  check_fault(Endpoint::kBatch, R"({"states":["a"],"orders":"2","questions":{}})", 422,
              "'orders' must be a whole number from 1 to 24, got \"2\"");
  check_fault(Endpoint::kDecisions,
              R"({"input":"a","orders":2,"stability":true,"questions":[
                  {"type":"predicate","instructions":"x"}]})",
              422, "send only one of them");
}

TEST(ServerAsked, Orders) {
  const auto orders = [](Endpoint endpoint, const char* body) {
    return std::get<Asked>(read(endpoint, body)).requests.at(0).request.orders;
  };
  EXPECT_EQ(orders(Endpoint::kSystemOne, R"({"state":"a","questions":{},"orders":3})"), 3);
  EXPECT_EQ(orders(Endpoint::kBatch, R"({"states":["a"],"questions":{},"stability":true})"), 2);
  EXPECT_EQ(orders(Endpoint::kDecisions, R"({"input":"a","orders":4,"questions":[
                  {"type":"predicate","instructions":"x"}]})"),
            4);
  EXPECT_EQ(orders(Endpoint::kSystemOne, R"({"state":"a","questions":{},"orders":null})"),
            std::nullopt);
}

TEST(ServerAsked, NotJson) {
  for (const Endpoint endpoint : {Endpoint::kSystemOne, Endpoint::kBatch, Endpoint::kDecisions}) {
    check_fault(endpoint, "{", 400, "request body must be valid JSON");
  }
}

TEST(ServerAsked, BatchIsOneRequestAState) {
  const auto asked = std::get<Asked>(
      read(Endpoint::kBatch,
           R"({"states":["a",{"b":1},[2]],"model":"laya","questions":["Is it late?"]})"));
  ASSERT_EQ(asked.requests.size(), 3U);
  EXPECT_EQ(asked.requests[0].request.state, (State{"a", false, false}));
  EXPECT_EQ(asked.requests[1].request.state, (State{R"({"b": 1})", false, true}));
  EXPECT_EQ(asked.requests[2].request.state, (State{"[2]", true, true}));
  for (const ServiceRequest& one : asked.requests) {
    EXPECT_EQ(one.request.model, "laya");
    EXPECT_EQ(one.request.questions, asked.requests[0].request.questions);
  }
  const std::string json = asked.render(std::vector<ServiceAnswer>(3));
  EXPECT_EQ(json.substr(0, 12), R"({"results":[)");
}

TEST(ServerAsked, Decisions) {
  const auto asked = std::get<Asked>(read(Endpoint::kDecisions,
                                          R"({"input":[{"role":"user","content":"a"}],"questions":[
            {"type":"predicate","name":"late","instructions":"Is it late?"}]})"));
  ASSERT_EQ(asked.requests.size(), 1U);
  EXPECT_EQ(asked.requests[0].request.state,
            (State{R"([{"role": "user", "content": "a"}])", true, true}));
  ServiceAnswer answer;
  answer.prediction.answers.answers.push_back(
      {.id = "late", .value = NoulAnswer{.noul = .5}, .act_probability = 0, .window = {}});
  EXPECT_EQ(asked.render({answer}).substr(0, 50),
            R"({"id":"id-1","object":"decisions","model":"laya-rl)");
}

TEST(ServerAsked, DefaultsOfTheServer) {
  AskDefaults defaults;
  defaults.overflow = OverflowPolicy::kWindows;
  defaults.jev_strict = true;
  const auto asked = std::get<Asked>(
      read_asked(Endpoint::kSystemOne, R"({"state":"a","questions":{}})", defaults, known(), "id"));
  EXPECT_EQ(asked.requests[0].options.overflow, OverflowPolicy::kWindows);
  ServiceAnswer answer;
  answer.prediction.answers.extra.push_back({"routing", "{}"});
  EXPECT_EQ(
      asked.render({answer}),
      R"({"model":"laya-rl-agent","answers":{},"usage":{"input_tokens":0,"output_tokens":0}})");
}

}  // namespace
}  // namespace layard::server
