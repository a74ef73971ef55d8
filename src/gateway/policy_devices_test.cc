#include "gateway/policy_devices.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

struct Read {
  PolicyDevice device;
  std::vector<std::string> found;  // severity and pointer of each finding
  std::string sentences;
};

Read read(std::string_view json) {
  const auto root = *base::parse_json(json, {});
  PolicyFindings findings;
  PolicyFields fields(findings);
  Read out{read_policy_device({&root, nullptr, "", "d"}, fields), {}, {}};
  for (const PolicyFinding& finding : findings.all()) {
    const bool error = finding.severity == PolicySeverity::kError;
    out.found.push_back((error ? "" : "warning ") + finding.pointer);
    out.sentences += finding.sentence() + "\n";
  }
  return out;
}

void check(std::string_view json, const std::vector<std::string>& expected) {
  const Read one = read(json);
  EXPECT_EQ(one.found, expected) << json << "\n" << one.sentences;
}

TEST(PolicyDevices, Defaults) {
  const PolicyDevice device = read("{}").device;
  EXPECT_EQ(device.name, "d");
  EXPECT_EQ(device.requests_max, 0);
  EXPECT_EQ(device.write_ms, 30000);
  EXPECT_EQ(device.total_ms, 0);
  EXPECT_EQ(device.context_tokens, 0);
  EXPECT_EQ(device.health.path, "/health");
  EXPECT_EQ(device.health.interval_ms, 2000);
  EXPECT_EQ(device.health.timeout_ms, 1000);
  EXPECT_EQ(device.health.failures, 3);
  EXPECT_EQ(device.health.successes, 1);
  EXPECT_EQ(device.ready_ms, 600000);
  EXPECT_EQ(device.stop_ms, 10000);
}

TEST(PolicyDevices, EveryMember) {
  const Read one = read(R"({"url": "http://127.0.0.1:9001/v1", "model": "m",
    "capabilities": ["tools"], "context_tokens": 4096, "routes": ["GET /props", "POST /slots/0"],
    "connect_ms": 1, "write_ms": 2, "first_byte_ms": 3, "idle_ms": 4, "total_ms": 5,
    "requests_max": 6, "queue_max": 7, "api_key_env": "GPU0_KEY", "ca_file": "ca.pem",
    "health": {"path": "/v1/models", "interval_ms": 100, "timeout_ms": 9, "failures": 10,
               "successes": 11},
    "command": ["llama-server", "--port", "{port}"], "env": ["HOME", "_x1"], "cwd": "/srv",
    "ready_ms": 12, "stop_ms": 13, "x-own": 1})");
  EXPECT_EQ(one.sentences, "");
  const PolicyDevice& device = one.device;
  EXPECT_EQ(device.context_tokens, 4096);
  EXPECT_EQ(device.routes, (std::vector<std::string>{"GET /props", "POST /slots/0"}));
  EXPECT_EQ(device.write_ms, 2);
  EXPECT_EQ(device.total_ms, 5);
  EXPECT_EQ(device.requests_max, 6);
  EXPECT_EQ(device.queue_max, 7);
  EXPECT_EQ(device.api_key_env, "GPU0_KEY");
  EXPECT_EQ(device.ca_file, "ca.pem");
  EXPECT_EQ(device.health.path, "/v1/models");
  EXPECT_EQ(device.health.interval_ms, 100);
  EXPECT_EQ(device.health.timeout_ms, 9);
  EXPECT_EQ(device.health.failures, 10);
  EXPECT_EQ(device.health.successes, 11);
  EXPECT_EQ(device.command.size(), 3U);
  EXPECT_EQ(device.env.size(), 2U);
  EXPECT_EQ(device.cwd, "/srv");
  EXPECT_EQ(device.ready_ms, 12);
  EXPECT_EQ(device.stop_ms, 13);
  EXPECT_EQ(read(R"({"api_key_file": "key"})").device.api_key_file, "key");
}

TEST(PolicyDevices, Refused) {
  check(R"({"requests_max": -1, "write_ms": -1, "total_ms": 86400001, "context_tokens": 1.5})",
        {"/context_tokens", "/write_ms", "/total_ms", "/requests_max"});
  check(
      R"({"routes": ["/props", "get /props", "GET props", "GET /a?b", "GET  /a", "TRACE /", 1]})",
      {"/routes/0", "/routes/1", "/routes/2", "/routes/3", "/routes/4", "/routes/5", "/routes/6"});
  check(R"({"health": "/health"})", {"/health"});
  check(R"({"health": {"path": "health", "interval_ms": 99, "timeout_ms": 0, "failures": 0,
                       "successes": 101, "probe": 1}})",
        {"/health/probe", "/health/path", "/health/interval_ms", "/health/timeout_ms",
         "/health/failures", "/health/successes"});
  check(R"({"url": "http://h:1", "command": []})", {"/command"});
  check(R"({"url": "http://h:1", "command": ["a", "", "b\u0000", 1], "env": ["A=B", "1A"]})",
        {"/command/1", "/command/2", "/command/3", "/env/0", "/env/1"});
  check(R"({"command": ["a"]})", {"/command"});
  for (const char* url : {"http://h", "http://[::1]", "http://h:/", "http://h/a:1"}) {
    check(R"({"command": ["a"], "url": ")" + std::string(url) + "\"}", {"/url"});
  }
  check(R"({"command": ["a"], "url": "http://[::1]:80/x"})", {});
}

TEST(PolicyDevices, WithoutEffect) {
  check(R"({"queue_max": 3})", {"warning /queue_max"});
  check(R"({"queue_max": 3, "requests_max": 1})", {});
  check(R"({"env": ["A"], "cwd": "/", "ready_ms": 1, "stop_ms": 1})",
        {"warning /env", "warning /cwd", "warning /ready_ms", "warning /stop_ms"});
}

TEST(PolicyDevices, KeysAreNeverInTheFileNorInAMessage) {
  for (const char* json : {R"({"api_key": "sk-secret"})", R"({"api_key_env": "sk-secret"})",
                           R"({"url": "http://user:secret@h"})"}) {
    const Read one = read(json);
    EXPECT_EQ(one.found.size(), 1U) << json;
    EXPECT_EQ(one.sentences.find("secret"), std::string::npos) << one.sentences;
  }
  const std::string told = read(R"({"api_key": "k"})").sentences;
  EXPECT_EQ(told,
            "a key cannot stand in a policy; name the variable that holds the key with "
            "\"api_key_env\", or the file with \"api_key_file\" (/api_key)\n");
  check(R"({"api_key_env": "key"})", {"/api_key_env"});
  check(R"({"api_key_env": "1KEY"})", {"/api_key_env"});
  check(R"({"api_key_env": 1})", {"/api_key_env"});
  check(R"({"api_key_env": "A", "api_key_file": "b"})", {"/api_key_file"});
}

}  // namespace
}  // namespace layard::gateway
