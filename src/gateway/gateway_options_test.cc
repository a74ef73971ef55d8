#include "gateway/gateway_options.h"

#include <gtest/gtest.h>

#include <map>

#include "support/memory_filesystem.h"

namespace layard::gateway {
namespace {

using base::GivenSettings;
using Variables = std::map<std::string, std::string, std::less<>>;

constexpr const char* kFile = "/gateway.json";

Result<GatewayOptions> read(GivenSettings flags, Variables variables, const std::string& file) {
  testing::MemoryFilesystem files;
  EXPECT_TRUE(base::write_atomically(files, kFile, file).ok());
  EXPECT_TRUE(base::write_atomically(files, "/keys", "alice secret-01\nbob secret-02\n").ok());
  EXPECT_TRUE(base::write_atomically(files, "/short", "alice secret\nbob s-3\n").ok());
  const base::FixedEnv env(std::move(variables));
  return read_gateway_options({std::move(flags), &env, &files});
}

// With the one setting that must be there.
GivenSettings with_policy(GivenSettings flags) {
  flags.try_emplace("policy", base::SettingValues{"/policy.yaml"});
  return flags;
}

base::JsonValue printed(const GatewayOptions& options) {
  return base::parse_json(print_gateway_options(options), base::JsonLimits{}).value();
}

std::string compact(const base::JsonValue* value) {
  return value == nullptr ? "absent" : base::write_json(*value, base::JsonStyle::kCompact);
}

// One value for each setting that is not its default.
struct Given {
  std::string name;
  std::string value;
  std::string expected;  // as it is printed
};

const std::vector<Given>& given() {
  static const std::vector<Given> rows = {
      {"policy", "/other.yaml", R"("/other.yaml")"},
      {"backend", "gpu0=http://127.0.0.1:9001", R"(["gpu0=http://127.0.0.1:9001"])"},
      {"laya", "true", "true"},
      {"model", "typed-decisions", R"("typed-decisions")"},
      {"device", "gpu1", R"("gpu1")"},
      {"host", "127.0.0.2", R"("127.0.0.2")"},
      {"port", "0", "0"},
      {"allow_remote", "on", "true"},
      {"allowed_host", "Gateway.Example", R"(["gateway.example"])"},
      {"api_key_file", "/keys", R"("/keys")"},
      {"requests_per_minute", "1000000", "1000000"},
      {"concurrent_max", "7", "7"},
      {"keepalive_ms", "0", "0"},
      {"queue_ms", "1", "1"},
      {"decision_log", "/log.jsonl", R"("/log.jsonl")"},
      {"log_text", "yes", "true"},
      {"io_threads", "64", "64"},
      {"connections_max", "5", "5"},
      {"body_max", "1MiB", "1048576"},
      {"body_memory_max", "64MiB", "67108864"},
      {"idle_ms", "86400000", "86400000"},
      {"head_ms", "11", "11"},
      {"body_ms", "12", "12"},
      {"write_ms", "13", "13"},
      {"drain_ms", "14", "14"},
      {"log_format", "json", R"("json")"},
  };
  return rows;
}

TEST(GatewayOptions, Defaults) {
  const GatewayOptions options = read(with_policy({}), {}, "{}").value();
  EXPECT_EQ(options.policy_file, "/policy.yaml");
  EXPECT_EQ(options.http.host, "127.0.0.1");
  EXPECT_EQ(options.http.port, 8643U);
  EXPECT_EQ(options.service.model, "starter");
  EXPECT_EQ(options.device, "auto");
  EXPECT_FALSE(options.laya);
  EXPECT_FALSE(options.allow_remote);
  EXPECT_FALSE(options.log_text);
  EXPECT_TRUE(options.backends.empty());
  EXPECT_TRUE(options.keys.empty());
  EXPECT_EQ(options.limits.per_minute, 0);
  EXPECT_EQ(options.limits.requests_max, 0);
}

// What the help says is a default is one.
TEST(GatewayOptions, DefaultsAreThoseOfTheHelp) {
  const auto defaults = read(with_policy({}), {}, "{}").value();
  for (const base::SettingInfo& info : gateway_setting_table()) {
    if (info.fallback.empty()) continue;
    const auto again =
        read(with_policy({{std::string(info.name), {std::string(info.fallback)}}}), {}, "{}");
    ASSERT_TRUE(again.ok()) << info.name << ": " << again.error().message;
    EXPECT_EQ(print_gateway_options(*again), print_gateway_options(defaults)) << info.name;
  }
}

// Each setting sets its own field and no other, wherever it comes from.
TEST(GatewayOptions, EverySettingFromFlagVariableAndFile) {
  const base::JsonValue defaults = printed(read(with_policy({}), {}, "{}").value());
  const auto check = [&](const Given& row, const char* source,
                         const Result<GatewayOptions>& options) {
    ASSERT_TRUE(options.ok()) << row.name << " by " << source << ": " << options.error().message;
    const base::JsonValue now = printed(*options);
    EXPECT_EQ(compact(now.find(row.name)), row.expected) << row.name << " by " << source;
    EXPECT_NE(compact(defaults.find(row.name)), row.expected) << row.name << ": says nothing";
    for (const auto& [name, value] : defaults.members()) {
      const bool is_own = name == row.name || name == "config" || name == "policy" ||
                          (name == "api_keys" && row.name == "api_key_file");
      if (!is_own) {
        EXPECT_EQ(compact(now.find(name)), compact(&value)) << row.name << " set " << name;
      }
    }
  };
  std::size_t seen = 1;  // config
  for (const base::SettingInfo& info : gateway_setting_table()) {
    const auto row = std::ranges::find(given(), info.name, &Given::name);
    if (row == given().end()) {
      EXPECT_EQ(info.name, "config") << "is not tried";
      continue;
    }
    ++seen;
    const GivenSettings rest = row->name == "policy" ? GivenSettings() : with_policy({});
    GivenSettings flags = rest;
    flags.insert_or_assign(row->name, base::SettingValues{row->value});
    check(*row, "flag", read(flags, {}, "{}"));
    check(*row, "variable", read(rest, {{std::string(info.variable), row->value}}, "{}"));
    const std::string file = R"({")" + row->name + R"(": ")" + row->value + R"("})";
    check(*row, "file", read(rest, {{"LAYARD_GATEWAY_CONFIG", kFile}}, file));
  }
  EXPECT_EQ(seen, given().size() + 1) << "a row of no setting";
}

TEST(GatewayOptions, VariablesAreNamedAfterTheirSettings) {
  for (const base::SettingInfo& info : gateway_setting_table()) {
    std::string name = "LAYARD_GATEWAY_";
    for (const char c : info.name) {
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    EXPECT_EQ(info.variable, name);
    EXPECT_FALSE(info.help.empty()) << info.name;
  }
}

TEST(GatewayOptions, FlagBeforeVariableBeforeFile) {
  const std::string file =
      R"({"port": 1, "host": "127.0.0.2", "queue_ms": 5, "allowed_host": ["file.example"],
          "backend": ["a=http://127.0.0.1:1", "b=http://127.0.0.1:2"]})";
  const Variables variables = {{"LAYARD_GATEWAY_CONFIG", kFile},
                               {"LAYARD_GATEWAY_PORT", "2"},
                               {"LAYARD_GATEWAY_HOST", "127.0.0.3"},
                               {"LAYARD_GATEWAY_ALLOWED_HOST", "one.example, two.example"}};
  const auto options =
      read(with_policy({{"port", {"3"}}, {"backend", {"c=http://h:3"}}}), variables, file).value();
  EXPECT_EQ(options.http.port, 3U);
  EXPECT_EQ(options.http.host, "127.0.0.3");
  EXPECT_EQ(options.queue_ms, 5);
  EXPECT_EQ(options.backends, (std::vector<std::string>{"c=http://h:3"}));
  // Lists too come from one source: the file's name is not allowed besides.
  EXPECT_EQ(options.allowed_hosts, (std::vector<std::string>{"one.example", "two.example"}));
}

void check_refused(const GivenSettings& flags, const Variables& variables, const std::string& file,
                   const std::string& message) {
  const auto options = read(flags, variables, file);
  ASSERT_FALSE(options.ok()) << message;
  EXPECT_EQ(options.error().code, ErrorCode::kInvalidRequest) << message;
  EXPECT_NE(options.error().message.find(message), std::string::npos) << options.error().message;
  EXPECT_EQ(options.error().message.find("secret"), std::string::npos) << options.error().message;
}

TEST(GatewayOptions, RefusedValuesNameTheirSource) {
  struct Row {
    std::string name;
    std::string value;
    std::string message;
  };
  const std::string ms = "must be a whole number from 1 to 86400000";
  const std::string backend = "--backend: must be NAME=URL";
  std::vector<Row> rows = {
      {"port", "65536", "--port: must be a whole number from 0 to 65535, got '65536'"},
      {"io_threads", "0", "--io-threads: must be a whole number from 1 to 64"},
      {"io_threads", "65", "--io-threads: must be a whole number from 1 to 64"},
      {"connections_max", "0", "--connections-max: must be a whole number from 1 to 1000000"},
      {"requests_per_minute", "1000001", "--requests-per-minute: must be a whole number from 0"},
      {"concurrent_max", "-1", "--concurrent-max: must be a whole number from 0"},
      {"keepalive_ms", "86400001", "--keepalive-ms: must be a whole number from 0 to 86400000"},
      {"queue_ms", "0", "--queue-ms: " + ms},
      {"idle_ms", "0", "--idle-ms: " + ms},
      {"head_ms", "0", "--head-ms: " + ms},
      {"body_ms", "0", "--body-ms: " + ms},
      {"write_ms", "0", "--write-ms: " + ms},
      {"drain_ms", "86400001", "--drain-ms: " + ms},
      {"body_max", "many", "--body-max: "},
      {"body_memory_max", "-1", "--body-memory-max: "},
      {"laya", "perhaps", "--laya: must be true or false, got 'perhaps'"},
      {"log_text", "", "--log-text: must be true or false"},
      {"allow_remote", "2", "--allow-remote: must be true or false"},
      {"log_format", "xml", "--log-format: must be text or json, got 'xml'"},
      {"allowed_host", "a.example:80", "--allowed-host: must be names of hosts without a port"},
      {"allowed_host", "a b", "--allowed-host: must be names of hosts without a port"},
      {"host", "no address", "host"},
      {"api_key_file", "/short", "/short:1: the key must be"},
      {"nothing", "1", "--nothing: no such option"},
      {"backend", "http://127.0.0.1:9001", backend},
      {"backend", "gpu0", backend},
      {"backend", "=http://127.0.0.1:9001", backend},
      {"backend", "gpu 0=http://127.0.0.1:9001", backend},
      {"backend", "gpu0=", backend},
      {"backend", "gpu0=127.0.0.1:9001", backend},
      {"backend", "gpu0=ftp://127.0.0.1:9001", backend},
      {"backend", "gpu0=http://", backend},
      {"backend", "gpu0=http://u:p@127.0.0.1:9001", backend},
      {"backend", "gpu0=http://127.0.0.1:9001/?key=1", backend},
      {"backend", "gpu0=http://127.0.0.1:9001/#a", backend},
  };
  for (const char* name : {"config", "policy", "model", "device", "host", "decision_log"}) {
    if (std::string_view(name) == "config") continue;  // empty: as if it were not there
    rows.push_back(
        {name, "",
         "--" + std::string(name == std::string_view("decision_log") ? "decision-log" : name) +
             ": must be a text that is not empty"});
  }
  for (const Row& row : rows) {
    GivenSettings flags = with_policy({});
    flags.insert_or_assign(row.name, base::SettingValues{row.value});
    check_refused(flags, {}, "{}", row.message);
  }
  check_refused(with_policy({}), {{"LAYARD_GATEWAY_PORT", "x"}}, "{}", "LAYARD_GATEWAY_PORT: must");
  const GivenSettings with_file = with_policy({{"config", {kFile}}});
  check_refused(with_file, {}, R"({"port": -1})", "/gateway.json: port: must be a whole number");
  check_refused(with_file, {}, R"({"backend": {}})", "/gateway.json: backend: must be a list");
  check_refused(with_file, {}, R"({"prot": 1})",
                "/gateway.json: prot: no such setting; `layard gateway --help` lists them");
}

TEST(GatewayOptions, ListsHaveBounds) {
  base::SettingValues hosts;
  base::SettingValues backends;
  for (int i = 0; i < 64; ++i) hosts.push_back("h" + std::to_string(i) + ".example");
  for (int i = 0; i < 256; ++i) {
    backends.push_back("d" + std::to_string(i) + "=http://127.0.0.1:" + std::to_string(9000 + i));
  }
  const auto all = read(with_policy({{"allowed_host", hosts}, {"backend", backends}}), {}, "{}");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->allowed_hosts.size(), 64U);
  EXPECT_EQ(all->backends, backends);
  hosts.push_back("more.example");
  backends.push_back("more=http://127.0.0.1:1");
  check_refused(with_policy({{"allowed_host", hosts}}), {}, "{}",
                "--allowed-host: must be at most 64 names");
  check_refused(with_policy({{"backend", backends}}), {}, "{}",
                "--backend: must be at most 256 devices");
  check_refused(with_policy({{"backend", {"a=http://h:1", "b=http://h:2", "a=http://h:3"}}}), {},
                "{}", "--backend: must be one URL for each NAME, got 'a=http://h:3'");
}

TEST(GatewayOptions, APolicyIsNeeded) { check_refused({}, {}, "{}", "--policy is needed"); }

TEST(GatewayOptions, RemoteNeedsPermissionAndKeys) {
  for (const char* host : {"0.0.0.0", "192.168.1.2", "::", "::ffff:127.0.0.1"}) {
    const GivenSettings remote = with_policy({{"host", {host}}, {"api_key_file", {"/keys"}}});
    check_refused(remote, {}, "{}", "add --allow-remote and keys");
    GivenSettings open = with_policy({{"host", {host}}, {"allow_remote", {"true"}}});
    check_refused(open, {}, "{}", "give callers keys with --api-key-file");
    open["api_key_file"] = {"/keys"};
    EXPECT_TRUE(read(open, {}, "{}").ok()) << host;
  }
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1", "localhost"}) {
    EXPECT_TRUE(read(with_policy({{"host", {host}}}), {}, "{}").ok()) << host;
  }
}

TEST(GatewayOptions, KeysAreReadAndNotPrinted) {
  const auto options = read(with_policy({{"api_key_file", {"/keys"}}}), {}, "{}").value();
  ASSERT_EQ(options.keys.size(), 2U);
  EXPECT_EQ(options.keys[1].name, "bob");
  EXPECT_EQ(options.keys[1].key, "secret-02");
  const std::string json = print_gateway_options(options);
  EXPECT_EQ(json.find("secret"), std::string::npos);
  EXPECT_NE(json.find("\n \"api_keys\": 2\n"), std::string::npos) << json;
  EXPECT_EQ(read(with_policy({{"api_key_file", {"/none"}}}), {}, "{}").error().code,
            ErrorCode::kIo);
}

}  // namespace
}  // namespace layard::gateway
