#include "tokenizer/json_fields.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

template <class T>
void check_damaged(const Result<T>& result, std::string_view where) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kArtifactIntegrity);
  EXPECT_NE(result.error().message.find(where), std::string::npos) << result.error().message;
}

TEST(JsonFields, ReadsEachKind) {
  const base::JsonValue value =
      testing::parse(R"({"b":true,"s":"text","n":7,"c":"\u2581","a":[1],"z":null})");
  const auto fields = JsonFields::of(value, "part");
  ASSERT_TRUE(fields.ok());
  EXPECT_TRUE(*fields->boolean("b"));
  EXPECT_FALSE(*fields->boolean_or("z", false));
  EXPECT_EQ(*fields->string("s"), "text");
  EXPECT_EQ(*fields->optional_string("absent"), std::nullopt);
  EXPECT_EQ(*fields->whole_number("n", 7), 7);
  EXPECT_EQ(*fields->character("c"), "\u2581");
  EXPECT_EQ((*fields->array("a"))->size(), 1U);
  EXPECT_EQ(fields->find("z"), nullptr);
}

TEST(GrowthBudget, RefusesChainsThatGrowATextTooMuch) {
  GrowthBudget budget;
  EXPECT_TRUE(budget.spend(16, "a").ok());
  EXPECT_TRUE(budget.spend(0.001, "b").ok());  // a step that shrinks earns nothing
  EXPECT_TRUE(budget.spend(32, "c").ok());
  const Status status = budget.spend(2, "normalizer");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupportedModel);
}

TEST(JsonFields, NamesTheFieldThatIsWrong) {
  const base::JsonValue value =
      testing::parse(R"({"b":1,"s":2,"n":8,"f":1.5,"m":-1,"c":"xy","a":{},"z":null})");
  const auto fields = JsonFields::of(value, "part[3]");
  ASSERT_TRUE(fields.ok());
  check_damaged(fields->boolean("b"), "part[3].b");
  check_damaged(fields->boolean_or("b", true), "part[3].b");
  check_damaged(fields->boolean("z"), "part[3].z: the field is missing");
  check_damaged(fields->string("s"), "part[3].s");
  check_damaged(fields->optional_string("s"), "part[3].s");
  check_damaged(fields->whole_number("n", 7), "part[3].n");
  check_damaged(fields->whole_number("f", 7), "part[3].f");
  check_damaged(fields->whole_number("m", 7), "part[3].m");
  check_damaged(fields->character("c"), "part[3].c");
  check_damaged(fields->array("a"), "part[3].a");
  check_damaged(fields->string("absent"), "part[3].absent");
  check_damaged(JsonFields::of(*value.find("s"), "part"), "part: expected an object");
}

TEST(JsonFields, RefusesPatternsThatAreNotLiteral) {
  const auto pattern = [](std::string_view json) {
    const base::JsonValue value = testing::parse(json);
    return JsonFields::of(value, "x")->literal_pattern("normalizer Replace");
  };
  EXPECT_EQ(*pattern(R"({"pattern":{"String":" "}})"), " ");
  const auto regex = pattern(R"({"pattern":{"Regex":" +"}})");
  ASSERT_FALSE(regex.ok());
  EXPECT_EQ(regex.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(regex.error().message.find("normalizer Replace"), std::string::npos);
  const auto empty = pattern(R"({"pattern":{"String":""}})");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kUnsupportedModel);
  check_damaged(pattern(R"({"pattern":"x"})"), "x.pattern");
  check_damaged(pattern("{}"), "x.pattern");
}

}  // namespace
}  // namespace layard::tokenizer
