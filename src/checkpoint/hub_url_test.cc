#include "checkpoint/hub_url.h"

#include <gtest/gtest.h>

namespace layard::checkpoint {
namespace {

Url url(const std::string& text) {
  auto parsed = parse_url(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Url{};
}

void check_origin(const std::string& text, const std::string& origin) {
  EXPECT_EQ(url(text).origin(), origin) << text;
}

TEST(HubUrl, Origins) {
  check_origin("https://huggingface.co/x?y#z", "https://huggingface.co:443");
  check_origin("HTTPS://HuggingFace.CO", "https://huggingface.co:443");
  check_origin("http://127.0.0.1:8080/a", "http://127.0.0.1:8080");
  check_origin("http://[::1]:8080/a", "http://::1:8080");
  check_origin("http://localhost", "http://localhost:80");
}

TEST(HubUrl, NotAddresses) {
  for (const char* text : {"", "huggingface.co", "https://", "https://a b/", "https://a/\n",
                           "/path", "https://a:99999/"}) {
    const auto parsed = parse_url(text);
    const bool refused = !parsed.ok() || !check_url(*parsed).ok();
    EXPECT_TRUE(refused) << text;
  }
}

TEST(HubUrl, Loopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* host : {"127.evil.example", "127.0.0.1.evil.example", "128.0.0.1", "1127.0.0.1",
                           "localhost.evil.example", "::2", "", "127.0.0", "0.0.0.0"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

void check_step(const std::string& from, const std::string& to, bool allowed) {
  const auto next = join_url(url(from), to);
  EXPECT_EQ(next.ok() && check_redirect(url(from), *next).ok(), allowed) << from << " -> " << to;
}

TEST(HubUrl, Redirects) {
  check_step("https://hub.example/a/b", "c", true);
  check_step("https://hub.example/a/b", "/c?d", true);
  check_step("https://hub.example/a", "//cdn.example/c", true);
  check_step("https://hub.example/a", "https://cdn.example/c", true);
  check_step("https://hub.example/a", "http://cdn.example/c", false);
  check_step("https://hub.example/a", "http://127.0.0.1/c", false);  // never down from https
  check_step("https://hub.example/a", "file:///etc/passwd", false);
  check_step("https://hub.example/a", "https://u:p@cdn.example/c", false);
  check_step("http://127.0.0.1/a", "https://cdn.example/c", true);
  check_step("http://127.0.0.1/a", "http://localhost:1/c", true);
  check_step("http://127.0.0.1/a", "http://cdn.example/c", false);
}

TEST(HubUrl, RelativeAddressesAreResolved) {
  EXPECT_EQ(join_url(url("https://h.example/a/b?q"), "../c")->text, "https://h.example/c");
  EXPECT_EQ(join_url(url("http://127.0.0.1:9/a"), "/b")->origin(), "http://127.0.0.1:9");
}

TEST(HubUrl, MessagesShowNoQueryAndNoPassword) {
  EXPECT_EQ(url("https://h.example/a?sig=1#f").shown(), "https://h.example/a");
  const Status status = check_url(url("https://user:secret@h.example/"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.find("secret"), std::string::npos);
}

TEST(HubUrl, FileAddress) {
  EXPECT_EQ(file_url("https://h.example", "org/name", "abc", "encoder/config.json"),
            "https://h.example/org/name/resolve/abc/encoder/config.json");
}

TEST(HubUrl, CredentialsAreNeverShown) {
  const auto check = [](std::string_view text, std::string_view expected) {
    EXPECT_EQ(without_credentials(text), expected);
  };
  check("https://u:SECRET@127.0.0.1:99999", "https://***@127.0.0.1:99999");
  check("u:SECRET@127.0.0.1", "***@127.0.0.1");
  check("Unsupported proxy syntax in 'http://u:SEC RET@h'",
        "Unsupported proxy syntax in 'http://***@h'");
  check("bad 'u:SE@CRET@h'", "bad '***@h'");
  check("https://host/path", "https://host/path");
  for (const char* bad : {"https://u:SECRET@127.0.0.1:99999", "https://u:SECRET@127.0.0.1 x"}) {
    const auto url = parse_url(bad);
    ASSERT_FALSE(url.ok()) << bad;
    EXPECT_EQ(url.error().message.find("SECRET"), std::string::npos) << url.error().message;
  }
}

}  // namespace
}  // namespace layard::checkpoint
