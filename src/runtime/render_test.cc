#include "runtime/render.h"

#include "base/json.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Render = testing::TinyModel;

TEST_F(Render, SpansFollowTheOptionOrder) {
  const auto json = open()->render_json(
      "text",
      R"({"q":{"type":"choice","instructions":"which","criteria":["a","b"],"option_order":[1,0]}})",
      {}, {});
  ASSERT_TRUE(json.ok()) << json.error().message;
  const auto root = base::parse_json(*json, {});
  const auto& question = *root->find("questions")->find("q");
  const auto spans = question.find("option_spans")->items();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].find("text")->text(), "b");
  EXPECT_EQ(spans[0].find("option")->as_int64(), 1);
  EXPECT_EQ(spans[0].find("read_as")->text(), " b");
  EXPECT_EQ(spans[0].find("end")->as_int64(), spans[1].find("start")->as_int64());
  EXPECT_EQ(question.find("head")->text(), "choice question: which");
  EXPECT_EQ(question.find("length")->as_int64(),
            static_cast<std::int64_t>(question.find("input_ids")->size()));
}

TEST_F(Render, WindowsGiveOneEntryEach) {
  PredictOptions windows;
  windows.overflow = OverflowPolicy::kWindows;
  const auto json = open()->render_json(std::string(900, 'x'), R"(["Is it?"])", {}, windows);
  ASSERT_TRUE(json.ok()) << json.error().message;
  const auto root = base::parse_json(*json, {});
  EXPECT_TRUE(root->find("questions")->find("Is it?")->is_array());
  EXPECT_GT(root->find("questions")->find("Is it?")->size(), 1U);
}

}  // namespace
}  // namespace layard::runtime
