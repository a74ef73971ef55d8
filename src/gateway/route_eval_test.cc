#include "gateway/route_eval.h"

#include "base/json.h"
#include "support/tiny_model.h"

namespace layard::gateway {
namespace {

const std::vector<std::string> kClasses = {"code", "prose", "short", "long_doc"};

class RouteEval : public testing::TinyModel {
 protected:
  RouteEvaluation evaluate(const std::vector<RouteCase>& cases) {
    const auto model = open();
    const RoutePolicy& policy = RoutePolicy::built_in();
    const auto classifier = RequestClassifier::open(policy, *model);
    const auto found =
        evaluate_routes(policy, *classifier, cases, [&](std::size_t a, std::size_t b) {
          EXPECT_LE(a, b);
          done_ = a == b;
        });
    EXPECT_TRUE(found.ok());
    return *found;
  }

  bool done_ = false;
};

TEST_F(RouteEval, CountsAddUp) {
  std::vector<RouteCase> cases;
  for (int i = 0; i < 40; ++i) {
    const std::string text =
        i % 4 == 3 ? std::string(1500, 'x') : "text number " + std::to_string(i);
    cases.push_back(
        {kClasses[static_cast<std::size_t>(i % 4)], text, i % 2 == 0 ? "en" : "de", ""});
  }
  const RouteEvaluation found = evaluate(cases);
  EXPECT_TRUE(done_);
  EXPECT_EQ(found.all.all, 40U);
  EXPECT_EQ(found.by_size.all, 10U);
  EXPECT_EQ(found.by_size.right, 10U);
  EXPECT_EQ(found.all.right, found.by_size.right + found.by_model.right);
  std::size_t right = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t row = 0;
    for (const std::size_t count : found.confusion[i]) row += count;
    EXPECT_EQ(row, 10U);
    right += found.confusion[i][i];
  }
  EXPECT_EQ(right, found.all.right);
  ASSERT_EQ(found.quarters.size(), 4U);
  for (const Share& quarter : found.quarters) EXPECT_EQ(quarter.all, 10U);
  EXPECT_EQ(found.quarters[3].right, 10U) << "gated ones are the most confident";
  ASSERT_EQ(found.languages.size(), 2U);
  EXPECT_EQ(found.languages[0].name, "en");
  EXPECT_EQ(found.languages[1].share.all, 20U);
  EXPECT_TRUE(found.sources.empty());
  ASSERT_EQ(found.lengths.size(), 2U) << "bands without a text are left out";
  EXPECT_EQ(found.lengths[0].name, "0-24");
  EXPECT_EQ(found.lengths[0].share.all, 30U);
  EXPECT_EQ(found.lengths[1].name, "1024-");
  EXPECT_EQ(found.order_flips.all, 30U);
  EXPECT_EQ(found.typo_flips.all, 30U);
  EXPECT_GT(found.ms_by_model, found.ms_all);
  EXPECT_GE(found.calibration_error, 0);
}

// Code points, not bytes, and the last of a band is still in it.
TEST_F(RouteEval, LengthBandsHaveTheirEnds) {
  std::string chinese;
  for (int i = 0; i < 24; ++i) chinese += "字";
  const RouteEvaluation found = evaluate({{"code", chinese, "", ""},
                                          {"code", chinese + "x", "", ""},
                                          {"code", std::string(69, 'a'), "", ""},
                                          {"code", std::string(70, 'a'), "", ""},
                                          {"code", std::string(199, 'a'), "", ""},
                                          {"code", std::string(200, 'a'), "", ""},
                                          {"code", std::string(1023, 'a'), "", ""},
                                          {"long_doc", std::string(1024, 'a'), "", ""}});
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const NamedShare& band : found.lengths) counts.emplace_back(band.name, band.share.all);
  const std::vector<std::pair<std::string, std::size_t>> expected = {
      {"0-24", 1}, {"25-69", 2}, {"70-199", 2}, {"200-1023", 2}, {"1024-", 1}};
  EXPECT_EQ(counts, expected);
}

TEST_F(RouteEval, Prints) {
  RouteEvaluation found = evaluate({{"code", "a", "", ""}});
  found.all = {191, 200};
  const std::string text = print_route_evaluation(found);
  EXPECT_TRUE(text.starts_with("accuracy 95.5% (191/200)\n")) << text;
  EXPECT_EQ(text.find("languages"), std::string::npos);
  const auto json = base::parse_json(route_evaluation_json(found), {});
  ASSERT_TRUE(json.ok());
  EXPECT_DOUBLE_EQ(json->find("accuracy")->as_double(), 0.955);
  EXPECT_EQ(json->find("confusion")->size(), 4U);
}

}  // namespace
}  // namespace layard::gateway
