// The JSON around answers: rows, errors, tokens, lines.
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "layard/model.h"

namespace layard {
namespace {

CodecOptions compact() {
  CodecOptions codec;
  codec.layout = JsonLayout::kCompact;
  return codec;
}

TEST(Print, RowsOfOnePassAndOfWindows) {
  Prediction prediction;
  prediction.rows.push_back({"a", {1, 2}, {1}, {0.5F}, {1.0F}});
  prediction.rows.push_back({"b", {1}, {0}, {0.25F}, {1.0F}});
  prediction.rows.push_back({"b", {3}, {0}, {-1.0F}, {1.0F}});
  const auto root = base::parse_json(print_prediction(prediction, compact()), {});
  ASSERT_TRUE(root.ok());
  const auto& rows = *root->find("rows");
  EXPECT_EQ(write_json(*rows.find("a"), base::JsonStyle::kCompact),
            R"({"input_ids":[1,2],"markers":[1],"logits":[0.5],"act":[1.0]})");
  EXPECT_EQ(rows.find("b")->size(), 2U);
  EXPECT_EQ(rows.find("b")->items()[1].find("input_ids")->items()[0].as_int64(), 3);
}

TEST(Print, FloatsKeepEveryBit) {
  Prediction prediction;
  const float value = 3.440912961959839F;
  prediction.rows.push_back({"a", {1}, {0}, {value}, {1.0F}});
  const auto root = base::parse_json(print_prediction(prediction, compact()), {});
  const auto& logit = root->find("rows")->find("a")->find("logits")->items()[0];
  EXPECT_EQ(logit.text(), "3.440912961959839");
  EXPECT_EQ(static_cast<float>(logit.as_double()), value);
}

TEST(Print, RecheckedComesLastWhereItIsKnown) {
  Prediction prediction;
  const auto runtime = [&] {
    return *base::parse_json(print_prediction(prediction, compact()), {})->find("runtime");
  };
  EXPECT_EQ(runtime().find("rechecked"), nullptr);
  prediction.runtime.rechecked = 0;
  EXPECT_EQ(runtime().members().back().key, "rechecked");
  EXPECT_EQ(runtime().find("rechecked")->as_int64(), 0);
}

TEST(Print, RemappedIsPrintedOnlyWhenItIs) {
  Prediction prediction;
  const auto runtime = [&] {
    return *base::parse_json(print_prediction(prediction, compact()), {})->find("runtime");
  };
  EXPECT_EQ(runtime().find("remapped"), nullptr);
  prediction.runtime.remapped = true;
  EXPECT_TRUE(runtime().find("remapped")->as_bool());
}

// The folder of a model may have any bytes in its name.
TEST(Print, NamesThatAreNotUtf8AreReplaced) {
  Prediction prediction;
  prediction.runtime.model = "models/caf\xE9";
  const auto root = base::parse_json(print_prediction(prediction, compact()), {});
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->find("runtime")->find("model")->text(), "models/caf\xEF\xBF\xBD");
}

TEST(Print, ErrorsAreQuoted) {
  EXPECT_EQ(print_error({ErrorCode::kInvalidRequest, "a \"b\"\n\x01"}, compact()),
            R"({"error":{"type":"InvalidRequestError","message":"a \"b\"\n\u0001"}})");
}

TEST(Print, TokensAndLines) {
  const std::vector<std::int32_t> ids = {7, 8};
  const std::vector<std::string> tokens = {"a", "##b"};
  EXPECT_EQ(print_tokens(ids, tokens), R"({"ids": [7, 8], "tokens": ["a", "##b"]})");
  EXPECT_EQ(*parse_text_line(R"({"text": "x\u00e9"})"), "x\u00e9");
  for (const char* bad : {"", "[]", R"({"text":1})", R"({"txt":"x"})", "{"}) {
    EXPECT_EQ(parse_text_line(bad).error().code, ErrorCode::kInvalidRequest) << bad;
  }
}

}  // namespace
}  // namespace layard
