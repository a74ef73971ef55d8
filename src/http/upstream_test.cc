#include "http/upstream.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::http {
namespace {

Upstream good(std::string_view url) {
  auto result = parse_upstream(url);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return *std::move(result);
}

TEST(HttpUpstream, ReadsItsParts) {
  EXPECT_EQ(good("http://Example.COM"), (Upstream{false, "example.com", 80, ""}));
  EXPECT_EQ(good("HTTPS://api.example.com/v1/"), (Upstream{true, "api.example.com", 443, "/v1"}));
  EXPECT_EQ(good("http://[::1]:8080/"), (Upstream{false, "::1", 8080, ""}));
  EXPECT_EQ(good("https://10.0.0.1:65535/a/b"), (Upstream{true, "10.0.0.1", 65535, "/a/b"}));
}

TEST(HttpUpstream, SaysWhereItIs) {
  EXPECT_EQ(good("http://a").host_field(), "a");
  EXPECT_EQ(good("http://a:443").host_field(), "a:443");
  EXPECT_EQ(good("https://a:443").host_field(), "a");
  EXPECT_EQ(good("https://[::1]:80").host_field(), "[::1]:80");
  EXPECT_EQ(good("https://[::1]").origin(), "https://[::1]:443");
  EXPECT_EQ(good("http://a/path").origin(), "http://a:80");
}

TEST(HttpUpstream, NamesWhatIsWrong) {
  struct Case {
    std::string url;
    std::string part;
  };
  const Case cases[] = {
      {"ftp://a", "http://"},
      {"//a", "http://"},
      {"a:80", "http://"},
      {"", "http://"},
      {"http://", "host"},
      {"http:///x", "host"},
      {"http://a:", "host"},
      {"http://a:65536", "host"},
      {"http://a:x", "host"},
      {"http://a:0", "port 0"},
      {"http://u:secret@a", "user"},
      {"http://u@a", "user"},
      {"http://a/#x", "fragment"},
      {"http://a/?x", "query"},
      {"http://a b", "space"},
      {"http://a\r\nX: y", "space"},
      {"http://a/../b", "segment"},
      {"http://a/%2e%2e", "segment"},
      {"http://a\\b", "backslash"},
      {"http://\xc3\xa9", "ASCII"},
      {"http://[::1", "host"},
      {"http://" + std::string(254, 'a'), "host"},
      {"http://a/" + std::string(2048, 'x'), "2048"},
  };
  for (const auto& [url, part] : cases) {
    const auto result = parse_upstream(url);
    ASSERT_FALSE(result.ok()) << url;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest) << url;
    EXPECT_NE(result.error().message.find(part), std::string::npos)
        << url << ": " << result.error().message;
    EXPECT_EQ(result.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard::http
