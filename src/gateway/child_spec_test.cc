#include "gateway/child_spec.h"

#include <gtest/gtest.h>

#include "layard/error.h"

namespace layard::gateway {
namespace {

std::vector<std::string> many(std::size_t count) { return std::vector<std::string>(count, "a"); }

TEST(ChildSpec, Checks) {
  const ChildVariables variables(kChildVariablesMax + 1, {"A", "b"});
  const std::string half(kChildTextBytesMax - 10, 'x');
  struct Row {
    ChildSpec spec;
    std::string part;  // of the message; empty: it is fine
  };
  const Row rows[] = {
      {{.argv = {"sh"}}, ""},
      {{.argv = {"sh", "", "a b", "\n\"'$(x)"}, .environment = {{"A_1", "=\n"}, {"_b", ""}}}, ""},
      {{.argv = {"sh"}, .stop_ms = 0}, ""},
      {{.argv = {"sh"}, .stop_ms = kStopMsMax}, ""},
      {{.argv = many(kChildArgumentsMax)}, ""},
      {{.argv = {}}, "command is empty"},
      {{.argv = {""}}, "command is empty"},
      {{.argv = many(kChildArgumentsMax + 1)}, "command has 1025 entries; there may be 1024"},
      {{.argv = {"sh", std::string("a\0b", 3)}}, "command[1] has a zero byte"},
      {{.argv = {"sh", std::string(kChildTextBytesMax, 'x')}}, "command[1] has 131072 bytes"},
      {{.argv = {"sh", half, half, half}}, "bytes together; there may be 262144"},
      {{.argv = {"sh"}, .environment = variables}, "env has 257 entries"},
      {{.argv = {"sh"}, .environment = {{"A=B", "secret"}}}, "env has 'A=B', which is no name"},
      {{.argv = {"sh"}, .environment = {{"", "secret"}}}, "env has ''"},
      {{.argv = {"sh"}, .environment = {{"1A", "secret"}}}, "env has '1A'"},
      {{.argv = {"sh"}, .environment = {{"A", std::string("secret\0", 7)}}}, "env A has a zero"},
      {{.argv = {"sh"}, .cwd = std::string("\0", 1)}, "cwd has a zero byte"},
      {{.argv = {"sh"}, .stop_ms = -1}, "stop_ms is -1; it may be 0 to 600000"},
      {{.argv = {"sh"}, .stop_ms = kStopMsMax + 1}, "stop_ms is 600001"},
  };
  for (const Row& row : rows) {
    const Status status = check_child_spec(row.spec);
    EXPECT_EQ(status.ok(), row.part.empty()) << row.part;
    if (status.ok() || row.part.empty()) continue;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(status.error().message.find(row.part), std::string::npos) << status.error().message;
    EXPECT_EQ(status.error().message.find("secret"), std::string::npos) << status.error().message;
  }
}

TEST(ChildSpec, Port) {
  using Words = std::vector<std::string>;
  const std::pair<Words, Words> rows[] = {
      {{"server", "--port", "{port}"}, {"server", "--port", "8080"}},
      {{"--url=127.0.0.1:{port}/{port}"}, {"--url=127.0.0.1:8080/8080"}},
      {{"{port", "port}", "{PORT}", "{{port}}"}, {"{port", "port}", "{PORT}", "{8080}"}},
      {{"{po{port}rt}"}, {"{po8080rt}"}},
      {{}, {}},
  };
  for (const auto& [given, expected] : rows) EXPECT_EQ(with_port(given, 8080).value(), expected);
  EXPECT_EQ(with_port({"a", "b"}, 0).value(), (Words{"a", "b"}));
  const auto none = with_port({"a", "{port}"}, 0);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(none.error().message.find("command[1] has {port}"), std::string::npos);
}

TEST(ChildSpec, Environment) {
  const base::FixedEnv env({{"PATH", "/bin"},
                            {"HOME", "/h"},
                            {"LANG", "C.UTF-8"},
                            {"LAYARD_API_KEY", "secret"},
                            {"LAYARD_CACHE", "/cache"},
                            {"HF_HOME", "/hf"},
                            {"EMPTY", ""},
                            {"OTHER", "x"}});
  const ChildVariables base = {{"PATH", "/bin"}, {"HOME", "/h"}, {"LANG", "C.UTF-8"}};
  EXPECT_EQ(child_environment(env, {}).value(), base);
  ChildVariables more = base;
  more.insert(more.end(), {{"HF_HOME", "/hf"}, {"EMPTY", ""}, {"LAYARD_CACHE", "/cache"}});
  EXPECT_EQ(child_environment(env, {"HF_HOME", "EMPTY", "UNSET", "LAYARD_CACHE", "PATH", "HF_HOME"})
                .value(),
            more);
  for (const char* name : {"LAYARD_API_KEY", "LAYARD_SERVE_API_KEY_FILE", "A=B", "", "A B"}) {
    const auto refused = child_environment(env, {name});
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
    EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::gateway
