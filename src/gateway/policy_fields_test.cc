#include "gateway/policy_fields.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

// One object's members read one way.
class Case {
 public:
  explicit Case(std::string_view json) : root_(*base::parse_json(json, {})) {}
  PolicyNode node() const { return {&root_, nullptr, "", ""}; }
  PolicyFields& fields() { return fields_; }
  std::string findings() const {
    std::string out;
    for (const PolicyFinding& finding : findings_.all()) out += finding.sentence() + "\n";
    return out;
  }

 private:
  base::JsonValue root_;
  PolicyFindings findings_;
  PolicyFields fields_{findings_};
};

TEST(PolicyFields, Numbers) {
  const auto check = [](std::string_view json, double expected, const std::string& findings) {
    Case one(json);
    double value = 7;
    one.fields().number(one.node(), "a", 0, 1, value);
    EXPECT_DOUBLE_EQ(value, expected) << json;
    EXPECT_EQ(one.findings(), findings) << json;
  };
  check(R"({})", 7, "");
  check(R"({"a": 0})", 0, "");
  check(R"({"a": 1.0})", 1, "");
  check(R"({"a": 1.01})", 7,
        "\"a\" must be a number from 0 to 1, found 1.01; write one of that range (/a)\n");
  check(R"({"a": "0.5"})", 7,
        "\"a\" must be a number from 0 to 1, found \"0.5\"; write the number without quotes "
        "(/a)\n");
  check(R"({"a": "x"})", 7,
        "\"a\" must be a number from 0 to 1, found \"x\"; write one of that range (/a)\n");
  check(R"({"a": true})", 7,
        "\"a\" must be a number from 0 to 1, found true; write one of that range (/a)\n");
}

TEST(PolicyFields, WholeNumbers) {
  const auto check = [](std::string_view json, std::int64_t expected) {
    Case one(json);
    std::int64_t value = 7;
    one.fields().whole(one.node(), "a", 1, 1000, value);
    EXPECT_EQ(value, expected) << json;
    EXPECT_EQ(one.findings().empty(), expected != 7) << json;
  };
  check(R"({"a": 1})", 1);
  check(R"({"a": 1000.0})", 1000);
  check(R"({"a": 1e2})", 100);
  check(R"({"a": 0})", 7);
  check(R"({"a": 1001})", 7);
  check(R"({"a": 1.5})", 7);
  check(R"({"a": 1e400})", 7);
  check(R"({"a": 123456789012345678901234567890})", 7);
  check(R"({"a": null})", 7);
}

TEST(PolicyFields, TextsAndNames) {
  Case one(R"({"a": "x", "b": "", "c": 1, "d": "a name", "e": "gpu0/a:1.b_c-d", "f": "文文"})");
  std::string value;
  one.fields().text(one.node(), "a", 1, value);
  EXPECT_EQ(value, "x");
  one.fields().text(one.node(), "f", 2, value);
  EXPECT_EQ(value, "文文");
  one.fields().name(one.node(), "e", value);
  EXPECT_EQ(value, "gpu0/a:1.b_c-d");
  EXPECT_EQ(one.findings(), "");
  one.fields().text(one.node(), "b", 9, value);
  one.fields().text(one.node(), "c", kAnyChars, value);
  one.fields().name(one.node(), "d", value);
  one.fields().text(one.node(), "f", 1, value);
  EXPECT_EQ(one.findings(),
            "\"b\" must be a text of at most 9 characters, found \"\" (/b)\n"
            "\"c\" must be a text, found 1; put it in quotes (/c)\n"
            "\"d\" must be a name, found \"a name\"; a name has 1 to 64 letters, digits and "
            "._:/-, a letter or digit first (/d)\n"
            "\"f\" must be a text of at most 1 characters, found \"文文\" (/f)\n");
}

TEST(PolicyFields, WordsAndLists) {
  Case one(R"({"a": "y", "b": "z", "c": ["n1", "a b", 3], "d": {}, "e": ["1", "2", "3"]})");
  EXPECT_EQ(one.fields().word(one.node(), "a", {"x", "y"}), 1U);
  EXPECT_EQ(one.fields().word(one.node(), "absent", {"x", "y"}), std::nullopt);
  EXPECT_EQ(one.findings(), "");
  EXPECT_EQ(one.fields().word(one.node(), "b", {"w", "x", "y"}), std::nullopt);
  std::vector<std::string> names;
  one.fields().texts(one.node(), "c", 3, is_policy_name, "names", names);
  EXPECT_EQ(names, std::vector<std::string>{"n1"});
  one.fields().texts(one.node(), "d", 3, is_policy_name, "names", names);
  one.fields().texts(one.node(), "e", 2, is_policy_name, "names", names);
  EXPECT_EQ(one.findings(),
            "\"b\" must be \"w\", \"x\" or \"y\", found \"z\" (/b)\n"
            "\"c\" must hold names, found \"a b\" (/c/1)\n"
            "\"c\" must hold names, found 3 (/c/2)\n"
            "\"d\" must be a list of at most 3 names, found {}; write [\"...\", \"...\"] (/d)\n"
            "\"e\" must be a list of at most 2 names, found [\"1\", \"2\", \"3\"]; write "
            "[\"...\", \"...\"] (/e)\n");
}

TEST(PolicyFields, UnknownMembers) {
  const std::string_view json = R"({"device": 1, "divice": 2, "comment": 3, "x-own": 4})";
  Case strict(json);
  strict.fields().unknown(strict.node(), {"device", "why"}, true);
  EXPECT_EQ(strict.fields().findings().errors(), 2U);
  EXPECT_EQ(strict.findings(),
            "nothing reads the member \"divice\"; did you mean \"device\"? (/divice)\n"
            "nothing reads the member \"comment\"; remove it, or let the name start with \"x-\" "
            "if it is your own (/comment)\n");
  Case lenient(json);
  lenient.fields().unknown(lenient.node(), {"device", "why"}, false);
  EXPECT_EQ(lenient.fields().findings().errors(), 0U);
  EXPECT_EQ(lenient.findings(),
            "nothing reads the member \"divice\"; did you mean \"device\"? (/divice)\n");
}

TEST(PolicyFields, Addresses) {
  for (const char* good : {"http://127.0.0.1:9001", "https://a.b-c.example/v1/x?"}) {
    EXPECT_EQ(is_server_url(good), std::string_view(good).find('?') == std::string_view::npos)
        << good;
  }
  EXPECT_TRUE(is_server_url("http://[::1]:80/"));
  for (const char* bad : {"", "http://", "ftp://a", "http://:80", "http://a b", "http://u:p@h",
                          "http://a\n", "//a", "http:///x", "http://a/#b", "HTTP://a"}) {
    EXPECT_FALSE(is_server_url(bad)) << bad;
  }
  EXPECT_FALSE(is_server_url("http://" + std::string(3000, 'a')));
  EXPECT_TRUE(is_header_name("x-session-id"));
  EXPECT_FALSE(is_header_name("x session"));
  EXPECT_FALSE(is_header_name(""));
}

}  // namespace
}  // namespace layard::gateway
