#include "runtime/parity_run.h"

#include "base/json.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

class ParityRun : public testing::TinyModel {
 protected:
  // Goldens recorded from the model itself; `change` is added to the first logit.
  std::string goldens(double change) {
    const auto model = open();
    PredictOptions raw;
    raw.raw = true;
    const auto json = model->predict_json("the text", R"(["Is it?"])", {}, raw);
    const auto root = base::parse_json(*json, {});
    const auto& row = *root->find("rows")->find("Is it?");
    base::JsonValue line = base::JsonValue::object();
    line.set("name", base::JsonValue::string("own"));
    line.set("state", base::JsonValue::string("the text"));
    line.set("questions", *base::parse_json(R"(["Is it?"])", {}));
    base::JsonValue copy = row;
    copy.set("type", base::JsonValue::integer(2));
    base::JsonValue logits = base::JsonValue::array();
    for (std::size_t i = 0; i < row.find("logits")->size(); ++i) {
      logits.push_back(base::JsonValue::real(row.find("logits")->items()[i].as_double() +
                                             (i == 0 ? change : 0.0)));
    }
    copy.set("logits", std::move(logits));
    base::JsonValue rows = base::JsonValue::array();
    rows.push_back(std::move(copy));
    line.set("rows", std::move(rows));
    return write_json(line, base::JsonStyle::kCompact) + "\n";
  }
};

TEST_F(ParityRun, OwnGoldensPassAndOthersFail) {
  const auto same = open()->parity(goldens(0.0), {});
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_TRUE(same->passed) << same->json;
  const auto other = open()->parity(goldens(0.01), {});
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->passed);
}

TEST_F(ParityRun, ShippedGoldensAreTheDefault) {
  const auto absent = open()->parity(std::nullopt, {});
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("--goldens"), std::string::npos);
  testing::write_file(folder_ / "goldens.jsonl", goldens(0.0));
  EXPECT_TRUE(open()->parity(std::nullopt, {})->passed);
}

TEST_F(ParityRun, MalformedGoldensAreRefused) {
  testing::write_file(folder_ / "goldens.jsonl", goldens(0.0));
  const auto empty = open()->parity("", {});  // given and empty is not the same as not given
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kInvalidRequest);
  const auto outside =
      open()->parity(R"({"state":"s","questions":["q"],"rows":[{"input_ids":[99999],"markers":[0],)"
                     R"("type":2,"logits":[1],"act":[1]}]})",
                     {});
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.error().code, ErrorCode::kInvalidRequest) << outside.error().message;
  const auto result = open()->parity("{\"state\":1}", {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard::runtime
