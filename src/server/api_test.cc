#include "server/api.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

#include "server/fake_decider.h"

namespace layard::server {
namespace {

constexpr const char* kBody =
    R"({"state":"a","questions":{"q":{"type":"noul","instructions":"x"}}})";

class ServerApi : public ::testing::Test {
 protected:
  void SetUp() override {
    log_.emplace(
        base::LogFormat::kText, base::LogLevel::kInfo,
        [this](std::string_view, std::string_view line) { logged_ += std::string(line) + "\n"; });
  }

  static http::Request request(const char* method, const char* target, const char* body) {
    http::Request out;
    out.method = method;
    out.target = target;
    out.fields.add("Host", "localhost:8642");
    out.fields.add("Content-Type", "application/json; charset=utf-8");
    out.body = body;
    out.peer_address = "127.0.0.1";
    return out;
  }

  std::unique_ptr<Api> api(ApiOptions options, Access access) {
    return std::make_unique<Api>(decider_, options, std::move(access),
                                 ServerFacts{"starter", "auto"}, *log_, clock_);
  }
  std::unique_ptr<Api> api() { return api({}, Access(true, "")); }

  // What the whole server answers when the decider does at once.
  http::Response ask(Api& api, http::Request request) {
    if (auto refused = api.admit(request)) return *std::move(refused);
    http::Response out;
    out.status = 0;
    api.handle(std::move(request), {[&](http::Response r) { out = std::move(r); }, {}});
    return out;
  }

  void check(Api& api, const http::Request& request, int status, const std::string& detail) {
    const http::Response response = ask(api, request);
    EXPECT_EQ(response.status, status) << request.method << " " << request.target;
    EXPECT_EQ(response.body, "{\"detail\":\"" + detail + "\"}");
    EXPECT_TRUE(response.fields.find("x-typesafe-request-id").has_value());
  }

  FakeDecider decider_;
  base::FakeClock clock_;
  std::string logged_;
  std::optional<base::EventLog> log_;
};

ServiceAnswer one_answer() {
  ServiceAnswer answer;
  answer.prediction.answers.answers.push_back(
      {.id = "q", .value = NoulAnswer{.noul = .5}, .act_probability = 0, .window = {}});
  answer.prediction.answers.usage.input_tokens = 9;
  answer.prediction.runtime.latency_ms = 1.5;
  answer.prediction.runtime.model = "starter";
  return answer;
}

TEST_F(ServerApi, OrderOfChecksBeforeTheBody) {
  const auto server = api({}, Access(true, "key"));
  decider_.room = false;
  http::Request bad = request("POST", "/v1/systemone", kBody);
  bad.fields.set("Host", "evil.example");
  bad.fields.set("Origin", "http://evil.example:1");
  bad.fields.set("Content-Type", "text/plain");
  check(*server, bad, 421, "this server answers loopback requests only");
  bad.fields.set("Host", "localhost:8642");
  check(*server, bad, 403, "this server answers its own pages only");
  bad.fields.erase("Origin");
  check(*server, bad, 401, "invalid or missing bearer token");
  EXPECT_EQ(ask(*server, bad).fields.value_or_empty("WWW-Authenticate"), "Bearer");
  bad.fields.set("Authorization", "Bearer key");
  check(*server, bad, 415, "Content-Type must be application/json");
  bad.fields.set("Content-Type", "application/json");
  check(*server, bad, 503, "server busy, try again later");
  const http::Response busy = ask(*server, bad);
  EXPECT_EQ(busy.fields.value_or_empty("retry-after-ms"), "1500");
  EXPECT_EQ(busy.fields.value_or_empty("Retry-After"), "2");
  decider_.room = true;
  EXPECT_FALSE(server->admit(bad).has_value());
  EXPECT_TRUE(decider_.requests.empty());
}

// On the thread of the connections, and on the one beside it, where large bodies are read.
TEST_F(ServerApi, WhatIsThrownIsA500AndTheNextRequestIsAnswered) {
  const auto server = api();
  const std::string large = R"({"state":")" + std::string(20'000, 'a') +
                            R"(","questions":{"q":{"type":"noul","instructions":"x"}}})";
  const auto status = [&](const std::string& body) {
    std::promise<http::Response> sent;
    server->handle(request("POST", "/v1/systemone", body.c_str()),
                   {[&](http::Response response) { sent.set_value(std::move(response)); }, {}});
    const http::Response response = sent.get_future().get();
    if (response.status != 200) {
      EXPECT_EQ(response.body, R"({"detail":"inference failed"})");
    }
    return response.status;
  };
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  for (const std::string& body : {std::string(kBody), large}) {
    decider_.before_submit = [] { throw std::runtime_error("no memory"); };
    EXPECT_EQ(status(body), 500);
    decider_.before_submit = nullptr;
    EXPECT_EQ(status(body), 200);
  }
  EXPECT_NE(logged_.find("failure id="), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("no memory"), std::string::npos) << logged_;
}

TEST_F(ServerApi, PathsAndMethods) {
  const auto server = api();
  check(*server, request("GET", "/nothing", ""), 404, "Not Found");
  check(*server, request("POST", "/v1/systemone/", kBody), 404, "Not Found");
  check(*server, request("GET", "/v1/systemone", ""), 405, "Method Not Allowed");
  EXPECT_EQ(ask(*server, request("GET", "/v1/systemone", "")).fields.value_or_empty("Allow"),
            "POST");
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  EXPECT_EQ(ask(*server, request("POST", "/v1/systemone?x=1", kBody)).status, 200);
}

TEST_F(ServerApi, Answers) {
  const auto server = api();
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  const http::Response response = ask(*server, request("POST", "/v1/systemone", kBody));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.substr(0, 45), R"({"model":"laya-rl-agent","answers":{"q":{"typ)");
  EXPECT_EQ(response.fields.value_or_empty("Content-Type"), "application/json");
  EXPECT_EQ(response.fields.value_or_empty("Server-Timing"), "inference;dur=1.50");
  EXPECT_EQ(response.fields.value_or_empty("X-Inference-Time-Ms"), "1.50");
  const http::Response second = ask(*server, request("POST", "/v1/systemone", kBody));
  EXPECT_NE(response.fields.value_or_empty("x-typesafe-request-id"),
            second.fields.value_or_empty("x-typesafe-request-id"));
}

TEST_F(ServerApi, ErrorsOfADecision) {
  const auto server = api();
  const auto check_error = [&](ErrorCode code, int status, const char* detail) {
    decider_.at_once = Result<ServiceAnswer>(Error{code, "the text"});
    check(*server, request("POST", "/v1/systemone", kBody), status, detail);
  };
  check_error(ErrorCode::kUnsupportedShape, 422, "the text");
  check_error(ErrorCode::kOverloaded, 503, "the text");
  EXPECT_EQ(
      ask(*server, request("POST", "/v1/systemone", kBody)).fields.value_or_empty("retry-after-ms"),
      "1500");
  check_error(ErrorCode::kInternal, 500, "inference failed");
  check_error(ErrorCode::kArtifactIntegrity, 503, "model starter is unavailable on this server");
  decider_.at_once = Result<ServiceAnswer>(Error{ErrorCode::kBackendUnavailable, "/a/path"});
  check(*server,
        request("POST", "/v1/systemone", R"({"state":"a","model":"laya","questions":["x"]})"), 503,
        "model laya is unavailable on this server; `layard download laya` on its machine fetches "
        "it");
}

TEST_F(ServerApi, LogHoldsNoTexts) {
  const auto server = api();
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  http::Request secret =
      request("POST", "/v1/systemone?secret-query",
              R"({"state":"secret-state","questions":{"secret-name":{"type":"noul",)"
              R"("instructions":"secret-words"}}})");
  secret.fields.add("Authorization", "Bearer secret-key");
  ask(*server, secret);
  ask(*server, request("GET", "/secret-path", ""));
  decider_.at_once = Result<ServiceAnswer>(Error{ErrorCode::kInternal, "what broke"});
  ask(*server, secret);
  EXPECT_EQ(logged_.find("secret"), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("endpoint=\"systemone\" status=200"), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("endpoint=\"other\" status=404"), std::string::npos) << logged_;
  EXPECT_NE(logged_.find("type=\"InternalError\" message=\"what broke\""), std::string::npos)
      << logged_;
}

TEST_F(ServerApi, Deadlines) {
  ApiOptions options;
  options.deadline_ms = 1000;
  const auto server = api(options, Access(true, ""));
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  const auto deadline = [&](const char* header) {
    http::Request one = request("POST", "/v1/systemone", kBody);
    if (header != nullptr) one.fields.add("X-Layard-Deadline-Ms", header);
    ask(*server, one);
    return decider_.requests.back().deadline_ms;
  };
  EXPECT_EQ(deadline(nullptr), 1000);
  EXPECT_EQ(deadline("20"), 20);
  EXPECT_EQ(deadline("5000"), 1000);  // the server's bound
  for (const char* bad : {"0", "-1", "1.5", "", "99999999999"}) {
    http::Request one = request("POST", "/v1/systemone", kBody);
    one.fields.add("X-Layard-Deadline-Ms", bad);
    check(*server, one, 422, "X-Layard-Deadline-Ms must be a positive number of milliseconds");
  }
  const auto unbounded = api({.limits = {}, .deadline_ms = 0}, Access(true, ""));
  ask(*unbounded, request("POST", "/v1/systemone", kBody));
  EXPECT_FALSE(decider_.requests.back().deadline_ms.has_value());
}

TEST_F(ServerApi, AClientThatLeavesIsTakenOutOfTheQueue) {
  const auto server = api();
  std::stop_source client;
  int answers = 0;
  server->handle(request("POST", "/v1/systemone", kBody),
                 {[&](const http::Response&) { ++answers; }, client.get_token()});
  ASSERT_EQ(decider_.waiting.size(), 1U);
  client.request_stop();
  EXPECT_TRUE(decider_.waiting.empty());
  EXPECT_EQ(answers, 1);
  EXPECT_NE(logged_.find("status=499"), std::string::npos) << logged_;
}

TEST_F(ServerApi, ALargeBodyIsReadElsewhere) {
  const auto server = api();
  decider_.at_once = Result<ServiceAnswer>(one_answer());
  const std::string body = R"({"questions":["x"],"state":")" + std::string(40'000, 'x') + "\"}";
  std::promise<std::thread::id> answered;
  server->handle(
      request("POST", "/v1/systemone", body.c_str()),
      {[&](const http::Response&) { answered.set_value(std::this_thread::get_id()); }, {}});
  EXPECT_NE(answered.get_future().get(), std::this_thread::get_id());
  server->close();
  server->handle(request("POST", "/v1/systemone", body.c_str()),
                 {[](const http::Response&) { FAIL() << "answered after close()"; }, {}});
  EXPECT_EQ(decider_.requests.size(), 1U);
}

TEST_F(ServerApi, PagesAndFiles) {
  const auto server = api({}, Access(false, "key"));
  const auto get = [&](const char* path, bool with_key) {
    http::Request one = request("GET", path, "");
    if (with_key) one.fields.add("Authorization", "Bearer key");
    return ask(*server, one);
  };
  EXPECT_EQ(get("/health", false).body, R"({"status":"ok"})");
  EXPECT_NE(get("/healthz", true).body, R"({"status":"ok"})");
  EXPECT_EQ(get("/v1/models", false).status, 401);
  EXPECT_EQ(get("/v1/models", true).status, 200);
  EXPECT_EQ(get("/metrics", false).status, 401);
  const http::Response metrics = get("/metrics", true);
  EXPECT_EQ(metrics.fields.value_or_empty("Content-Type"),
            "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(metrics.body.find("layard_http_connections 0"), std::string::npos);
  server->set_counters([] { return http::Counters{.connections_open = 3}; });
  EXPECT_NE(get("/metrics", true).body.find("layard_http_connections 3"), std::string::npos);
  EXPECT_EQ(get("/openapi.json", false).status, 200);
  const http::Response page = get("/", false);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.fields.value_or_empty("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.fields.value_or_empty("Content-Security-Policy").find("default-src 'none'"),
            std::string_view::npos);
}

TEST_F(ServerApi, Ready) {
  const auto server = api();
  EXPECT_EQ(ask(*server, request("GET", "/ready", "")).status, 200);
  decider_.ready = false;
  const http::Response response = ask(*server, request("GET", "/ready", ""));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.fields.value_or_empty("retry-after-ms"), "1000");
}

TEST_F(ServerApi, RefusalsOfTheServerBelow) {
  const auto server = api();
  const auto check_refusal = [&](http::RefusalReason reason, int status, const char* detail) {
    const http::Response response = server->refusal({reason, "the text"});
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.body, "{\"detail\":\"" + std::string(detail) + "\"}");
  };
  check_refusal(http::RefusalReason::kBodySize, 413, "request body too large");
  check_refusal(http::RefusalReason::kBodyTime, 408, "request body was not received in time");
  check_refusal(http::RefusalReason::kUnanswered, 500, "inference failed");
  check_refusal(http::RefusalReason::kContentEncoding, 415, "the text");
  const http::Response full = server->refusal({http::RefusalReason::kConnections, "full"});
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.fields.value_or_empty("Retry-After"), "1");
}

}  // namespace
}  // namespace layard::server
