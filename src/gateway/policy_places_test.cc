#include "gateway/policy_places.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

std::string places_of(const PlaceTree& tree) {
  std::string out = std::to_string(tree.value.line) + ":" + std::to_string(tree.value.column);
  if (tree.children.empty()) return out;
  out += "(";
  for (const PlaceTree& child : tree.children) out += " " + places_of(child);
  return out + " )";
}

void check(std::string_view text, const std::string& expected) {
  ASSERT_TRUE(base::parse_json(text, {}).ok()) << text;
  EXPECT_EQ(places_of(find_json_places(text).root), expected) << text;
}

TEST(PolicyPlaces, EveryValueHasItsPlace) {
  check("1", "1:1");
  check(" \n {}", "2:2");
  check("\xEF\xBB\xBF{}", "1:2");
  check("[1, -2.5e3,\n\"a\"]", "1:1( 1:2 1:5 2:1 )");
  check(R"({"a": {"b": [true, null]}, "c" : "x,y}"})", "1:1( 1:7( 1:13( 1:14 1:20 ) ) 1:34 )");
  check(R"({"quo\"te\\": 1, "文": 2})", "1:1( 1:15 1:23 )");
  check("[[], {}, [ ], { }]", "1:1( 1:2 1:6 1:10 1:15 )");
}

TEST(PolicyPlaces, NamesHavePlacesToo) {
  const JsonPlaces places = find_json_places("{\"a\": 1,\n \"b\":\n2}");
  const PlaceTree& second = places.root.children.at(1);
  EXPECT_EQ(second.name.line, 2U);
  EXPECT_EQ(second.name.column, 2U);
  EXPECT_EQ(second.value.line, 3U);
}

// A repeated name has one value, the last, in the first one's position, as the parser has it.
TEST(PolicyPlaces, RepeatsAreTold) {
  const std::string_view text = R"({"a": 1, "b": {"x/y": 1, "x\/y": 2}, "\u0061": 3})";
  const JsonPlaces places = find_json_places(text);
  ASSERT_EQ(places.repeats.size(), 2U);
  EXPECT_EQ(places.repeats[0].pointer, "/b");
  EXPECT_EQ(places.repeats[0].name, "x/y");
  EXPECT_EQ(places.repeats[1].pointer, "");
  EXPECT_EQ(places.repeats[1].name, "a");
  EXPECT_EQ(places.repeats[1].place.column, 38U);
  const auto value = base::parse_json(text, {});
  ASSERT_EQ(places.root.children.size(), value->size());
  EXPECT_EQ(places.root.children[0].value.column, 48U);
}

}  // namespace
}  // namespace layard::gateway
