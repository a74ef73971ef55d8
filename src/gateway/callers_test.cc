#include "gateway/callers.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

http::Fields fields(std::initializer_list<http::Field> list) {
  http::Fields out;
  for (const http::Field& field : list) out.add(field.name, field.value);
  return out;
}

TEST(CallerKeys, OneALine) {
  const auto keys = read_caller_keys("# team\nalice  key-0001 \r\n\n\tbob\tkey-0002", "keys");
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  ASSERT_EQ(keys->size(), 2U);
  EXPECT_EQ((*keys)[0].name, "alice");
  EXPECT_EQ((*keys)[0].key, "key-0001");
  EXPECT_EQ((*keys)[1].name, "bob");
  EXPECT_EQ((*keys)[1].key, "key-0002");
}

TEST(CallerKeys, WrongLinesAreNamedWithoutTheirText) {
  const auto check = [](const std::string& text, const std::string& part) {
    const auto keys = read_caller_keys(text, "keys");
    ASSERT_FALSE(keys.ok()) << text;
    EXPECT_NE(keys.error().message.find(part), std::string::npos) << keys.error().message;
    EXPECT_EQ(keys.error().message.find("secret"), std::string::npos) << keys.error().message;
  };
  check("", "has no key");
  check("# only a remark\n", "has no key");
  check("secret-key-alone\n", "keys:1: the key must be");
  check("a secret-1\n\nb@c secret-2\n", "keys:3: must be NAME KEY");
  check("a secret-1\nb secret 2\n", "keys:2: the key must be");
  check("a short\n", "keys:1: the key must be");
  check("a secret-1\na secret-2\n", "keys:2: this name");
  check("a secret-1\nb secret-1\n", "keys:2: this key");
  std::string many;
  for (std::size_t i = 0; i <= kCallersMax; ++i) {
    many += "n" + std::to_string(i) + " secret-" + std::to_string(i) + "\n";
  }
  check(many, "keys:1025: there are more than 1024");
}

TEST(Callers, Hosts) {
  const auto check = [](const Callers& callers, const char* host, bool expected) {
    EXPECT_EQ(callers.takes_host(fields({{"Host", host}})), expected) << host;
  };
  const Callers local(true, {}, {});
  check(local, "127.0.0.1:8643", true);
  check(local, "localhost", true);
  check(local, "gateway.example", false);
  check(local, "user@localhost", false);
  const Callers named(true, {"gateway.example"}, {});
  check(named, "Gateway.Example:8643", true);
  check(named, "localhost", true);
  check(named, "other.example", false);
  const Callers remote(false, {"gateway.example"}, {{"a", "key-0001"}});
  check(remote, "gateway.example", true);
  check(remote, "other.example", false);
  check(Callers(false, {}, {}), "other.example", true);
}

TEST(Callers, Keys) {
  const Callers callers(true, {}, {{"alice", "key-0001"}, {"bob", "key-0002"}});
  const auto check = [&](const http::Fields& sent, std::optional<std::string> expected) {
    EXPECT_EQ(callers.caller_of(sent), expected);
  };
  check(fields({{"Authorization", "Bearer key-0001"}}), "alice");
  check(fields({{"Authorization", "bearer key-0002"}}), "bob");
  check(fields({{"X-Api-Key", "key-0002"}}), "bob");
  check(fields({{"Authorization", "Bearer key-0001"}, {"X-Api-Key", "key-0002"}}), "alice");
  check(fields({{"Authorization", "Bearer key-000"}}), std::nullopt);
  check(fields({{"Authorization", "Bearer key-00011"}}), std::nullopt);
  check(fields({{"Authorization", "Basic key-0001"}}), std::nullopt);
  check({}, std::nullopt);
  EXPECT_EQ(Callers(true, {}, {}).caller_of({}), "");
}

}  // namespace
}  // namespace layard::gateway
