#include "tokenizer/json_fields.h"

#include <gtest/gtest.h>

#include "support/small_stack.h"
#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

template <class T>
void check_damaged(const Result<T>& result, std::string_view where) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kArtifactIntegrity);
  EXPECT_NE(result.error().message.find(where), std::string::npos) << result.error().message;
}

template <class T>
void check_unsupported(const Result<T>& result, std::string_view part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
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
  const auto sized = [&pattern](std::size_t bytes) {
    return pattern(R"({"pattern":{"String":")" + std::string(bytes, 'x') + R"("}})");
  };
  EXPECT_TRUE(sized(kShortTextBytesMax).ok());
  check_unsupported(sized(kShortTextBytesMax + 1), "1025 bytes in x.pattern.String");
}

TEST(JsonFields, ShortTexts) {
  const base::JsonValue value =
      testing::parse(R"({"s":"##","l":")" + std::string(1025, '#') + R"(","n":null})");
  const auto fields = JsonFields::of(value, "model");
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(*fields->short_string("s"), "##");
  EXPECT_EQ(*fields->short_string_or_empty("s"), "##");
  EXPECT_EQ(*fields->short_string_or_empty("n"), "");
  EXPECT_EQ(*fields->short_string_or_empty("absent"), "");
  check_unsupported(fields->short_string("l"), "1025 bytes in model.l");
  check_unsupported(fields->short_string_or_empty("l"), "1025 bytes in model.l");
  check_damaged(fields->short_string("absent"), "model.absent");
}

// What read_components makes of `json`: type and path of each component, or the message.
std::string components_of(std::string_view json) {
  const base::JsonValue value = testing::parse(json);
  const auto components = read_components(value, "part", "parts");
  if (!components.ok()) return components.error().message;
  std::string text;
  for (const Component& component : *components) {
    text += component.type + "@" + component.fields.where() + " ";
  }
  return text;
}

TEST(Components, AreFlattenedInOrder) {
  EXPECT_EQ(components_of(R"({"type":"A"})"), "A@part ");
  EXPECT_EQ(components_of(R"({"type":"Sequence","parts":[]})"), "");
  EXPECT_EQ(components_of(R"({"type":"Sequence","parts":[{"type":"A"},)"
                          R"({"type":"Sequence","parts":[{"type":"B"},{"type":"C"}]},)"
                          R"({"type":"D"}]})"),
            "A@part.parts[0] B@part.parts[1].parts[0] C@part.parts[1].parts[1] D@part.parts[2] ");
  for (const char* bad : {R"({"type":"Sequence"})", R"({"parts":[]})", "[]",
                          R"({"type":"Sequence","parts":[{"type":"A"},{"type":1}]})"}) {
    EXPECT_NE(components_of(bad).find("tokenizer.json: part"), std::string::npos) << bad;
  }
}

std::string wide(std::size_t count) {
  std::string text = R"({"type":"Sequence","parts":[)";
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? "," : "") + std::string(R"({"type":"A"})");
  return text + "]}";
}

std::string deep(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += R"({"type":"Sequence","parts":[)";
  text += R"({"type":"A"})";
  for (std::size_t i = 0; i < count; ++i) text += "]}";
  return text;
}

TEST(Components, AreBoundedInNumberNotInDepth) {
  layard::testing::run_on_small_stack([] {
    EXPECT_EQ(components_of(deep(kComponentsMax - 1)).substr(0, 2), "A@");
    EXPECT_NE(components_of(deep(kComponentsMax)).find("more than 64 components"),
              std::string::npos);
    EXPECT_EQ(components_of(wide(kComponentsMax - 1)).substr(0, 2), "A@");
    EXPECT_NE(components_of(wide(kComponentsMax)).find("more than 64 components"),
              std::string::npos);
  });
}

// The three parts that may be sequences, as deep as a file may be.
TEST(Components, OfAFileDoNotCostStack) {
  const auto sequence = [](const std::string& list, const std::string& inner) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += R"({"type":"Sequence",")" + list + R"(":[)";
    text += inner;
    for (int i = 0; i < 30; ++i) text += "]}";
    return text;
  };
  layard::testing::run_on_small_stack([&sequence] {
    const auto tokenizer = testing::load(testing::to_json(
        {.normalizer = sequence("normalizers", R"({"type":"Lowercase"})"),
         .pre_tokenizer = sequence("pretokenizers", R"({"type":"WhitespaceSplit"})"),
         .decoder = sequence("decoders", R"({"type":"Fuse"})")}));
    ASSERT_NE(tokenizer, nullptr);
    EXPECT_EQ(tokenizer->decode(testing::encode(*tokenizer, "ABC b")), "abcb");
  });
}

}  // namespace
}  // namespace layard::tokenizer
