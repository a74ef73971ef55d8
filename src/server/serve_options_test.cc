#include "server/serve_options.h"

#include <gtest/gtest.h>

#include "server/settings.h"
#include "support/memory_filesystem.h"

namespace layard::server {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Result<ServeOptions> read(base::GivenSettings flags, Variables variables, const char* file) {
  testing::MemoryFilesystem files;
  EXPECT_TRUE(base::write_atomically(files, "/serve.json", file).ok());
  EXPECT_TRUE(base::write_atomically(files, "/key", "from-file\nsecond line\n").ok());
  EXPECT_TRUE(base::write_atomically(files, "/empty", "\n").ok());
  const base::FixedEnv env(std::move(variables));
  return read_serve_options({std::move(flags), &env, &files});
}

void check_refused(base::GivenSettings flags, Variables variables, const char* file,
                   const std::string& message) {
  const auto options = read(std::move(flags), std::move(variables), file);
  ASSERT_FALSE(options.ok()) << message;
  EXPECT_EQ(options.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(options.error().message.find(message), std::string::npos) << options.error().message;
}

TEST(ServeOptions, Defaults) {
  const auto options = read({}, {}, "{}").value();
  EXPECT_EQ(options.http.host, "127.0.0.1");
  EXPECT_EQ(options.http.port, 8642U);
  EXPECT_EQ(options.service.model, "starter");
  EXPECT_TRUE(options.api_key.empty());
  EXPECT_FALSE(options.allow_remote);
}

// What the help says is a default is one.
TEST(ServeOptions, DefaultsAreThoseOfTheHelp) {
  const auto defaults = read({}, {}, "{}").value();
  for (const Setting& setting : settings()) {
    if (setting.info.fallback.empty()) continue;
    ServeOptions again = defaults;
    ASSERT_TRUE(setting.set(again, {std::string(setting.info.fallback)}).ok()) << setting.info.name;
    EXPECT_EQ(print_serve_options(again), print_serve_options(defaults)) << setting.info.name;
  }
}

TEST(ServeOptions, FlagBeforeVariableBeforeFile) {
  const char* file = R"({"port": 1, "host": "127.0.0.2", "model": "from-file"})";
  const Variables variables = {{"LAYARD_SERVE_CONFIG", "/serve.json"},
                               {"LAYARD_SERVE_PORT", "2"},
                               {"LAYARD_SERVE_HOST", "127.0.0.3"}};
  const auto options = read({{"port", {"3"}}}, variables, file).value();
  EXPECT_EQ(options.http.port, 3U);
  EXPECT_EQ(options.http.host, "127.0.0.3");
  EXPECT_EQ(options.service.model, "from-file");
  EXPECT_EQ(read({{"config", {"/serve.json"}}}, {}, file).value().http.port, 1U);
}

TEST(ServeOptions, KindsOfValues) {
  const auto options =
      read({{"config", {"/serve.json"}}, {"answer_cache_max", {"1 MiB"}}},
           {{"LAYARD_SERVE_PRELOAD", "a, b,,c"}, {"LAYARD_SERVE_JEV_STRICT", "Yes"}},
           R"({"no_load_on_demand": true, "overflow": "windows", "idle_unload_s": 60,
               "log_format": "json", "device": "cpu"})")
          .value();
  EXPECT_EQ(options.service.answer_cache_bytes_max, 1U << 20U);
  EXPECT_EQ(options.service.preload, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(options.api.jev_strict);
  EXPECT_FALSE(options.service.load_on_demand);
  EXPECT_EQ(options.api.overflow, OverflowPolicy::kWindows);
  EXPECT_EQ(options.service.idle_unload_s, 60);
  EXPECT_EQ(options.log_format, base::LogFormat::kJson);
  EXPECT_EQ(options.service.checkpoints.device, "cpu");
}

TEST(ServeOptions, RefusedValuesNameTheirSource) {
  check_refused({{"port", {"65536"}}}, {}, "{}",
                "--port: must be a whole number from 0 to 65535, got '65536'");
  check_refused({}, {{"LAYARD_SERVE_PORT", "x"}}, "{}",
                "LAYARD_SERVE_PORT: must be a whole number from 0 to 65535, got 'x'");
  const base::GivenSettings with_file = {{"config", {"/serve.json"}}};
  check_refused(with_file, {}, R"({"port": -1})",
                "/serve.json: port: must be a whole number from 0 to 65535, got '-1'");
  check_refused(with_file, {}, R"({"port": null})", "/serve.json: port: must be one value");
  check_refused(with_file, {}, R"({"port": [1, 2]})", "/serve.json: port: must be one value");
  check_refused(with_file, {}, R"({"preload": {}})",
                "/serve.json: preload: must be a list of names");
  check_refused(with_file, {}, R"({"prot": 1})", "/serve.json: prot: no such setting");
  check_refused(with_file, {}, R"({"config": "/serve.json"})",
                "/serve.json: config: no such setting");
  check_refused(with_file, {}, "[]", "/serve.json: must be an object of settings");
  check_refused(with_file, {}, "{", "/serve.json: JSON at line 1");
  check_refused({}, {{"LAYARD_SERVE_ALLOW_REMOTE", "maybe"}}, "{}",
                "LAYARD_SERVE_ALLOW_REMOTE: must be true or false, got 'maybe'");
  check_refused({{"overflow", {"x"}}}, {}, "{}",
                "--overflow: must be one of cut, error, windows, got 'x'");
  check_refused({{"body_max", {"x"}}}, {}, "{}", "--body-max: ");
  check_refused({{"log_format", {"xml"}}}, {}, "{}", "--log-format: must be text or json");
  check_refused({{"model", {""}}}, {}, "{}", "--model: must be a text that is not empty");
}

TEST(ServeOptions, RemoteNeedsPermissionAndAKey) {
  const char* reach = "can be reached by other machines";
  for (const char* host : {"0.0.0.0", "192.168.1.2", "::", "::ffff:127.0.0.1"}) {
    const base::GivenSettings remote = {{"host", {host}}};
    check_refused(remote, {{"LAYARD_API_KEY", "key"}}, "{}", reach);
    const base::GivenSettings allowed = {{"host", {host}}, {"allow_remote", {"true"}}};
    check_refused(allowed, {}, "{}", "set LAYARD_API_KEY or --api-key-file");
    EXPECT_TRUE(read(allowed, {{"LAYARD_API_KEY", "key"}}, "{}").ok()) << host;
  }
  EXPECT_TRUE(read({{"host", {"::1"}}}, {}, "{}").ok());
}

TEST(ServeOptions, Keys) {
  EXPECT_EQ(read({}, {{"LAYARD_API_KEY", "k"}}, "{}").value().api_key, "k");
  EXPECT_EQ(read({{"api_key_file", {"/key"}}}, {}, "{}").value().api_key, "from-file");
  EXPECT_EQ(read({{"api_key_file", {"/key"}}}, {{"LAYARD_API_KEY", "first"}}, "{}").value().api_key,
            "first");
  check_refused({}, {{"LAYARD_API_KEY", "two words"}}, "{}", "LAYARD_API_KEY: a key is up to");
  check_refused({}, {{"LAYARD_API_KEY", "k\xC3\xA9"}}, "{}", "LAYARD_API_KEY: a key is up to");
  check_refused({{"api_key_file", {"/empty"}}}, {}, "{}", "/empty: its first line is empty");
  EXPECT_EQ(read({{"api_key_file", {"/none"}}}, {}, "{}").error().code, ErrorCode::kIo);
}

TEST(ServeOptions, PrintedWithoutTheKey) {
  const std::string json =
      print_serve_options(read({}, {{"LAYARD_API_KEY", "secret"}}, "{}").value());
  EXPECT_EQ(json.find("secret"), std::string::npos);
  EXPECT_NE(json.find("\n \"api_key\": true\n"), std::string::npos);
  EXPECT_NE(json.find("\n \"port\": 8642,\n"), std::string::npos);
}

}  // namespace
}  // namespace layard::server
