#include "http/message.h"

#include <gtest/gtest.h>

namespace layard::http {
namespace {

TEST(HttpMessage, NamesCompareWithoutCase) {
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_FALSE(equal_ignoring_case("Content-Type", "Content-Typ"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));  // 0x20 apart, but no letters
}

TEST(HttpMessage, Tokens) {
  for (const char* good : {"a", "X-Layard", "!#$%&'*+-.^_`|~09"})
    EXPECT_TRUE(is_token(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("a b"), std::string("a:"), std::string("a\0", 2),
        std::string("\xc3\xa9"), std::string("(")}) {
    EXPECT_FALSE(is_token(bad)) << bad;
  }
}

TEST(HttpMessage, TokenLists) {
  for (const char* good : {"", "a", "a,b", " a , b ", ",,a,"})
    EXPECT_TRUE(is_token_list(good)) << good;
  for (const char* bad : {"a b", "a/b", "a,b;c", "\"a\""}) EXPECT_FALSE(is_token_list(bad)) << bad;
}

TEST(HttpMessage, FieldValues) {
  for (const char* good : {"", "a", "a b\tc", "\xc3\xa9"})
    EXPECT_TRUE(is_field_value(good)) << good;
  for (const std::string& bad : {std::string("a\r\nb"), std::string("a\0b", 3), std::string(" a"),
                                 std::string("a\t"), std::string("\x7f")}) {
    EXPECT_FALSE(is_field_value(bad)) << bad;
  }
}

TEST(HttpMessage, FieldsKeepOrderAndRepeat) {
  Fields fields;
  fields.add("A", "1");
  fields.add("b", "2");
  fields.add("a", "3");
  EXPECT_EQ(fields.count("a"), 2U);
  EXPECT_EQ(fields.find("A"), "1");
  EXPECT_EQ(fields.find("c"), std::nullopt);
  EXPECT_EQ(fields.value_or_empty("c"), "");
  fields.set("a", "4");
  EXPECT_EQ(fields.count("A"), 1U);
  EXPECT_EQ(fields.all().back().value, "4");
  fields.erase("B");
  EXPECT_EQ(fields.size(), 1U);
}

TEST(HttpMessage, TokensInLists) {
  Fields fields;
  fields.add("Connection", "keep-alive , X-A");
  fields.add("connection", "Close");
  EXPECT_TRUE(fields.has_token("Connection", "close"));
  EXPECT_TRUE(fields.has_token("Connection", "Keep-Alive"));
  EXPECT_TRUE(fields.has_token("Connection", "x-a"));
  EXPECT_FALSE(fields.has_token("Connection", "keep"));
  EXPECT_FALSE(fields.has_token("Via", "close"));
}

TEST(HttpMessage, PathAndQuery) {
  const auto check = [](std::string target, std::string_view path, std::string_view query) {
    Request request;
    request.target = std::move(target);
    EXPECT_EQ(request.path(), path);
    EXPECT_EQ(request.query(), query);
  };
  check("/a/b?c=d?e", "/a/b", "c=d?e");
  check("/a", "/a", "");
  check("/?", "/", "");
}

TEST(HttpMessage, Phrases) {
  EXPECT_EQ(status_phrase(100), "Continue");
  EXPECT_EQ(status_phrase(404), "Not Found");
  EXPECT_EQ(status_phrase(505), "HTTP Version Not Supported");
  EXPECT_EQ(status_phrase(299), "Unknown");
}

TEST(HttpMessage, MadeResponse) {
  const auto response = make_response(404, "text/plain", "no");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.fields.find("content-type"), "text/plain");
  EXPECT_EQ(response.body, "no");
}

}  // namespace
}  // namespace layard::http
