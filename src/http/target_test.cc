#include "http/target.h"

#include <gtest/gtest.h>

namespace layard::http {
namespace {

TEST(HttpTarget, PercentDecoding) {
  const auto check = [](std::string_view text, std::optional<std::string_view> expected) {
    const auto decoded = percent_decode(text);
    ASSERT_EQ(decoded.ok(), expected.has_value()) << text;
    if (expected) {
      EXPECT_EQ(*decoded, *expected) << text;
    } else {
      EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidRequest);
    }
  };
  check("", "");
  check("a+b", "a+b");
  check("%41%c3%A9%25", "A\xc3\xa9%");
  check("%4", std::nullopt);
  check("%", std::nullopt);
  check("%g0", std::nullopt);
  check("%0g", std::nullopt);
  check("%00", std::nullopt);
}

TEST(HttpTarget, Segments) {
  using Segments = std::vector<std::string>;
  const auto check = [](std::string_view path, std::optional<Segments> expected) {
    const auto segments = path_segments(path, 3);
    ASSERT_EQ(segments.ok(), expected.has_value()) << path;
    if (!expected) return;
    EXPECT_EQ(*segments, *expected) << path;
  };
  check("/", Segments{});
  check("/a", Segments{"a"});
  check("/a/", Segments{"a", ""});
  check("/a/b%2Fc", Segments{"a", "b/c"});
  check("//", Segments{"", ""});
  check("/1/2/3", Segments{"1", "2", "3"});
  check("/1/2/3/4", std::nullopt);
  check("", std::nullopt);
  check("a", std::nullopt);
  check("/a/../b", std::nullopt);
  check("/%2e%2E/b", std::nullopt);
  check("/.", std::nullopt);
  check("/%", std::nullopt);
}

TEST(HttpTarget, Query) {
  const auto check = [](std::string_view query, std::optional<std::string_view> expected) {
    const auto parameters = parse_query(query, 3);
    ASSERT_EQ(parameters.ok(), expected.has_value()) << query;
    if (!expected) return;
    std::string printed;
    for (const auto& parameter : *parameters) {
      printed += "[" + parameter.name + "|" + parameter.value + "]";
    }
    EXPECT_EQ(printed, *expected) << query;
  };
  check("", "");
  check("a=1&b=x%20y+z", "[a|1][b|x y z]");
  check("a&&b=", "[a|][b|]");
  check("a=b=c", "[a|b=c]");
  check("a%3Db=%26", "[a=b|&]");
  check("=v", "[|v]");
  check("a=1&a=2&a=3", "[a|1][a|2][a|3]");
  check("a&b&c&d", std::nullopt);
  check("a=%zz", std::nullopt);
}

TEST(HttpTarget, LastParameterWins) {
  const auto parameters = parse_query("a=1&b=2&a=3", 8);
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(find_parameter(*parameters, "a"), "3");
  EXPECT_EQ(find_parameter(*parameters, "c"), std::nullopt);
}

TEST(HttpTarget, MediaTypes) {
  EXPECT_TRUE(is_media_type("application/json", "application/json"));
  EXPECT_TRUE(is_media_type("Application/JSON ; charset=utf-8", "application/json"));
  EXPECT_FALSE(is_media_type("application/jsonx", "application/json"));
  EXPECT_FALSE(is_media_type("", "application/json"));
  EXPECT_FALSE(is_media_type("text/plain; application/json", "application/json"));
}

TEST(HttpTarget, BearerTokens) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bearer   abc"), "abc");
  EXPECT_EQ(bearer_token("Bearer "), std::nullopt);
  EXPECT_EQ(bearer_token("Bearer"), std::nullopt);
  EXPECT_EQ(bearer_token("Basic abc"), std::nullopt);
  EXPECT_EQ(bearer_token(""), std::nullopt);
}

TEST(HttpTarget, SecretsCompareWhole) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  for (const char* wrong : {"", "s", "secre", "secret2", "Secret", "secreT", "secretsecret"}) {
    EXPECT_FALSE(equal_in_constant_time(wrong, "secret")) << wrong;
  }
  EXPECT_FALSE(equal_in_constant_time("a", ""));
}

TEST(HttpTarget, Hosts) {
  const auto check = [](std::string_view text, std::optional<std::string_view> expected) {
    const auto host = parse_host(text);
    ASSERT_EQ(host.has_value(), expected.has_value()) << text;
    if (!expected) return;
    EXPECT_EQ(host->host + (host->port ? " " + std::to_string(*host->port) : ""), *expected);
  };
  check("localhost", "localhost");
  check("LocalHost:8642", "localhost 8642");
  check("127.0.0.1:", "127.0.0.1");
  check("[::1]:80", "::1 80");
  check("[::1]", "::1");
  check("my_host.local.", "my_host.local.");
  for (const char* bad : {"", ":80", "a b", "a@b", "a:b", "a:65536", "a:-1", "a:1:2", "[::1", "[]",
                          "[::1]80", "[g]", "a/b", "a,b", "::1", "a:99999999999"}) {
    check(bad, std::nullopt);
  }
}

}  // namespace
}  // namespace layard::http
