#include "http/host_rules.h"

#include <gtest/gtest.h>

namespace layard::http {
namespace {

TEST(HostRules, LoopbackHosts) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* host : {"", "0.0.0.0", "128.0.0.1", "127.1", "localhost.", "::ffff:127.0.0.1",
                           "::1%lo", "127.0.0.1.nip.io", "::", "example.com"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(HostRules, HostField) {
  const auto check = [](const char* host, bool expected) {
    Fields fields;
    fields.add("Host", host);
    EXPECT_EQ(names_loopback_host(fields), expected) << host;
  };
  check("127.0.0.1:8642", true);
  check("LocalHost", true);
  check("[::1]:80", true);
  check("evil.example:8642", false);
  check("::1", false);
  check("user@localhost", false);
  EXPECT_FALSE(names_loopback_host({}));
}

TEST(HostRules, Origin) {
  const auto check = [](const char* host, const char* origin, bool expected) {
    Fields fields;
    fields.add("Host", host);
    fields.add("Origin", origin);
    EXPECT_EQ(is_own_origin(fields), expected) << host << " " << origin;
  };
  check("localhost:8642", "http://localhost:8642", true);
  check("models.example", "https://models.example:443", true);
  check("localhost:8642", "https://localhost:8643", false);
  check("localhost:8642", "null", false);
  check("", "http://localhost", false);
  EXPECT_TRUE(is_own_origin({}));
  Fields twice;
  twice.add("Host", "localhost");
  for (const char* origin : {"http://localhost", "http://evil.example"}) {
    twice.add("Origin", origin);
  }
  EXPECT_FALSE(is_own_origin(twice));
}

}  // namespace
}  // namespace layard::http
