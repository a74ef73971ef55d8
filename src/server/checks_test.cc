#include "server/checks.h"

#include <gtest/gtest.h>

namespace layard::server {
namespace {

using base::JsonValue;

const KnownModels& known() {
  static const KnownModels models{
      [](std::string_view name) { return name == "convaiinnovations/laya-multilingual"; },
      [] {
        return std::vector<std::string>{"laya", "starter"};
      }};
  return models;
}

JsonValue json(const std::string& text) {
  return base::parse_json(text, base::JsonLimits{}).value();
}

std::optional<Fault> fault_in(const OrFault<Controls>& outcome) {
  const auto* fault = std::get_if<Fault>(&outcome);
  return fault != nullptr ? std::optional<Fault>(*fault) : std::nullopt;
}

void check(const std::string& body, int status, const std::string& detail) {
  const auto fault = fault_in(check_systemone(json(body), {}, known()));
  ASSERT_TRUE(fault.has_value()) << body.substr(0, 200);
  EXPECT_EQ(*fault, (Fault{status, detail}));
}

void check_batch(const std::string& body, int status, const std::string& detail) {
  const auto fault = fault_in(server::check_batch(json(body), {}, known()));
  ASSERT_TRUE(fault.has_value()) << body.substr(0, 200);
  EXPECT_EQ(*fault, (Fault{status, detail}));
}

std::string repeated(std::size_t count, const std::string& item) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (i > 0 ? "," : "") + item;
  return out;
}

// {"0": VALUE, "1": VALUE, ...}
std::string object_of(std::size_t count, const std::string& value) {
  std::string out = "{";
  for (std::size_t i = 0; i < count; ++i) {
    out += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + value;
  }
  return out + "}";
}

// A request with good state and questions, and more members.
std::string with(const std::string& members) {
  return R"({"state":"a","questions":{},)" + members + "}";
}

TEST(ServerChecks, Body) {
  const auto fault = [](const std::string& body) { return std::get<Fault>(parse_body(body)); };
  const Fault not_json{400, "request body must be valid JSON"};
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("{} x"), std::string(R"({"a":NaN})"),
        std::string("\xff"), std::string(600, '[') + std::string(600, ']')}) {
    EXPECT_EQ(fault(body), not_json) << body.substr(0, 20);
  }
  EXPECT_EQ(fault(R"({"state":"\ud800"})"),
            (Fault{400,
                   "request body contains an unpaired surrogate escape; those cannot be encoded as "
                   "UTF-8"}));
  EXPECT_TRUE(std::holds_alternative<JsonValue>(parse_body("\xEF\xBB\xBF{}")));
}

TEST(ServerChecks, Members) {
  for (const char* body : {"[]", "3", "null", "\"questions\"", "{}", R"({"state":"a"})"}) {
    check(body, 400, "request body must be an object with a 'questions' field");
  }
  check(R"({"questions":{}})", 400, "'state' is required");
  check(R"({"questions":{},"state":null})", 400, "'state' is required");
  check(R"({"questions":{},"context":null})", 400, "'state' is required");
  for (const char* questions : {"null", "3", "\"a\"", "[{}]", R"(["a",1])"}) {
    check(R"({"state":"a","questions":)" + std::string(questions) + "}", 400,
          "'questions' must be an object");
  }
}

TEST(ServerChecks, Accepted) {
  for (const char* body :
       {R"({"state":"a","questions":{}})", R"({"context":["a"],"questions":["Is it late?"]})",
        R"({"state":0,"questions":{"q":3}})", R"({"state":false,"questions":{"q":{"type":"x"}}})",
        R"({"state":"a","questions":{},"hooks":null,"max_len":null,"lang":null,"model":null})",
        R"({"state":"a","questions":{},"model":"jev-latest","max_len":8192,"lang":"de"})",
        R"({"state":"a","questions":{},"model":"convaiinnovations/laya-multilingual"})",
        R"({"state":"a","questions":{},"anything":{"else":1}})"}) {
    EXPECT_FALSE(fault_in(check_systemone(json(body), {}, known())).has_value()) << body;
  }
}

TEST(ServerChecks, Sizes) {
  const auto questions = [](const std::string& text) {
    return R"({"state":"a","questions":)" + text + "}";
  };
  check(questions(object_of(65, "{}")), 413, "too many questions (65 > 64)");
  check(questions("[" + repeated(65, "\"a\"") + "]"), 413, "too many questions (65 > 64)");
  check(questions(R"({"q":{"type":"choice","criteria":)" + object_of(101, "null") + "}}"), 413,
        "too many choice options for 'q' (101 > 100)");
  check(questions(R"({"q":{"type":"choice","criteria":[)" + repeated(101, "\"a\"") + "]}}"), 413,
        "too many choice options for 'q' (101 > 100)");
  check(questions(R"({"q":{"type":"score","criteria":[)" + repeated(33, "\"a\"") + "]}}"), 413,
        "too many score levels for 'q' (33 > 32)");
  check(questions(R"({"q":{"type":"score","criteria":["a",null]}})"), 422,
        "score question 'q' has a null level at index 1; give every level a description");
  const std::string choice = R"({"type":"choice","criteria":)" + object_of(100, "null") + "}";
  const std::string score = R"({"type":"score","criteria":[)" + repeated(13, "\"a\"") + "]}";
  check(questions(R"({"a":)" + choice + R"(,"b":)" + choice + R"(,"c":)" + choice + R"(,"d":)" +
                  choice + R"(,"e":)" + choice + R"(,"f":)" + score + "}"),
        413, "too many answer options across questions (513 > 512)");
}

TEST(ServerChecks, SizesAtTheBound) {
  const std::string choice = R"({"type":"choice","criteria":)" + object_of(100, "null") + "}";
  std::string questions = R"({"s":{"type":"score","criteria":[)" + repeated(12, "\"a\"") + "]}";
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    questions += ",\"" + std::string(id) + "\":" + choice;
  }
  const std::string state(50'000, 'x');
  const std::string body = R"({"state":")" + state + R"(","questions":)" + questions + "}}";
  EXPECT_FALSE(fault_in(check_systemone(json(body), {}, known())).has_value());
}

TEST(ServerChecks, StateSize) {
  const auto state = [](const std::string& text) {
    return R"({"questions":{},"state":)" + text + "}";
  };
  check(state("\"" + std::string(50'001, 'x') + "\""), 413,
        "state too large (50001 > 50000 chars)");
  // Characters, not bytes; of a structure those of the text the model reads: `["...", "..."]`.
  const std::string accents = [] {
    std::string text;
    for (int i = 0; i < 50'000; ++i) text += "\xC3\xA9";
    return text;
  }();
  EXPECT_FALSE(
      fault_in(check_systemone(json(state("\"" + accents + "\"")), {}, known())).has_value());
  check(state("[\"" + accents + "\",1]"), 413, "state too large (50007 > 50000 chars)");
}

TEST(ServerChecks, Hooks) {
  check(with(R"("hooks_raise":true,"hooks":[])"), 422,
        "hooks, hooks_raise run inside the server process and cannot be sent to this endpoint; "
        "install them where laya-serve runs, or drop them");
  check(with(R"("on_predict_start":1)"), 422,
        "on_predict_start run inside the server process and cannot be sent to this endpoint; "
        "install them where laya-serve runs, or drop them");
}

TEST(ServerChecks, Models) {
  const std::string tail =
      "'; choose one of ['laya', 'starter'], or omit model to let the router choose";
  for (const char* name : {"/etc/passwd", "./x", "~/x", "a/b", ".."}) {
    check(with(R"("model":")" + std::string(name) + "\""), 422,
          "unknown model '" + std::string(name) + tail);
  }
  check(with(R"("model":" a\\b ")"), 422, "unknown model 'a\\b" + tail);
  check(with(R"("model":3)"), 422, "'model' must be a string");
}

TEST(ServerChecks, Budgets) {
  for (const std::string name : {"max_len", "head_max_len"}) {
    const auto value = [&](const char* text) { return with("\"" + name + "\":" + text); };
    for (const char* text : {"true", "1.5", "\"8\"", "[]"}) {
      check(value(text), 422, name + " must be an integer");
    }
    for (const char* text : {"0", "-1", "-99999999999999999999"}) {
      check(value(text), 422, name + " must be a positive integer");
    }
    check(value("9000"), 422, name + " exceeds server limit (9000 > 8192)");
    check(value("99999999999999999999"), 422,
          name + " exceeds server limit (99999999999999999999 > 8192)");
  }
}

TEST(ServerChecks, OtherControls) {
  check(with(R"("lang":3)"), 422, R"(lang must be a language code string such as "de", or null)");
  check(with(R"("lang_guess":[])"), 422,
        R"(lang_guess must be a language code string such as "de", or null)");
  check(with(R"("min_confidence":2)"), 422, "min_confidence must be a float in [0.0, 1.0], got 2");
  check(with(R"("jev_strict":1)"), 422, "jev_strict must be a boolean");
}

// Only choices are asked in several orders.
TEST(ServerChecks, Rows) {
  const auto body = [](int choices, int nouls, const std::string& more) {
    std::string questions;
    for (int i = 0; i < choices + nouls; ++i) {
      questions += (i == 0 ? "\"q" : ",\"q") + std::to_string(i) +
                   (i < choices ? R"(":{"type":"choice","criteria":["a","b"]})"
                                : R"(":{"type":"noul","instructions":"x"})");
    }
    return R"({"state":"a","questions":{)" + questions + "}," + more + "}";
  };
  const std::string text = "too many rows, choice questions counted once an order ";
  const auto allowed = [](const std::string& text) {
    return !fault_in(check_systemone(json(text), {}, known())).has_value();
  };
  EXPECT_TRUE(allowed(body(21, 8, R"("orders":24)")));  // 512
  check(body(21, 9, R"("orders":24)"), 413, text + "(513 > 512)");
  check(body(64, 0, R"("orders":9)"), 413, text + "(576 > 512)");
  EXPECT_TRUE(allowed(body(64, 0, R"("orders":8)")));
  EXPECT_TRUE(allowed(body(64, 0, R"("stability":true)")));
  EXPECT_TRUE(allowed(body(0, 64, R"("orders":24)")));
  EXPECT_TRUE(allowed(body(64, 0, R"("orders":99)")));  // the codec refuses it
}

TEST(ServerChecks, WhatComesFirst) {
  const std::string big = "\"" + std::string(50'001, 'x') + "\"";
  check(R"({"questions":3})", 400, "'state' is required");
  check(R"({"state":)" + big + R"(,"questions":3,"hooks":1})", 400,
        "'questions' must be an object");
  check(R"({"state":)" + big + R"(,"questions":{},"hooks":1})", 413,
        "state too large (50001 > 50000 chars)");
  check(with(R"("hooks":1,"model":3)"), 422,
        "hooks run inside the server process and cannot be sent to this endpoint; install them "
        "where laya-serve runs, or drop them");
  check(with(R"("model":3,"max_len":0)"), 422, "'model' must be a string");
  check(with(R"("max_len":0,"lang":3)"), 422, "max_len must be a positive integer");
  check(with(R"("lang":3,"min_confidence":2)"), 422,
        R"(lang must be a language code string such as "de", or null)");
}

TEST(ServerChecks, Controls) {
  const auto controls = std::get<Controls>(check_systemone(
      json(with(R"("min_confidence":0.7,"jev_strict":true,"lang":"de","max_len":64)")), {},
      known()));
  ASSERT_TRUE(controls.gate.has_value());
  EXPECT_EQ(controls.gate->other, 0.7);
  EXPECT_TRUE(controls.jev_strict);
  EXPECT_EQ(controls.warnings, (std::vector<std::string>{"lang has no effect on this server",
                                                         "max_len has no effect on this server"}));
}

TEST(ServerChecks, Batch) {
  const std::string members = "request body must be an object with 'states' and 'questions' fields";
  check_batch("[]", 400, members);
  check_batch(R"({"states":["a"]})", 400, members);
  check_batch(R"({"questions":{}})", 400, members);
  check_batch(R"({"questions":{},"states":[]})", 400, "'states' must be a non-empty list");
  check_batch(R"({"questions":{},"states":"a"})", 400, "'states' must be a non-empty list");
  check_batch(R"({"questions":{},"states":[)" + repeated(65, "1") + "]}", 413,
              "too many states in batch (65 > 64)");
  check_batch(R"({"questions":{},"states":["a",null]})", 400, "'state' is required");
  check_batch(R"({"questions":3,"states":["a"]})", 400, "'questions' must be an object");
  check_batch(R"({"questions":{},"states":["a",")" + std::string(50'001, 'x') + "\"]}", 413,
              "state too large (50001 > 50000 chars)");
  const auto more = [](const std::string& text) {
    return R"({"questions":{},"states":["a"],)" + text + "}";
  };
  check_batch(more(R"("diagnostics":{},"model":3)"), 422,
              "diagnostics is filled in place for an in-process caller and cannot be returned over "
              "HTTP; read the per-group report from the CLI or a local Router");
  check_batch(more(R"("batch_size":"8")"), 422, "batch_size must be an integer");
  check_batch(more(R"("batch_size":0)"), 422, "batch_size must be a positive integer, got 0");
  check_batch(more(R"("batch_size":-3)"), 422, "batch_size must be a positive integer, got -3");
  check_batch(more(R"("sort_by_length":1)"), 422, "sort_by_length must be a boolean");
  EXPECT_FALSE(fault_in(server::check_batch(json(more(R"("batch_size":8,"sort_by_length":true)")),
                                            {}, known()))
                   .has_value());
}

}  // namespace
}  // namespace layard::server
