#include "evaluation/svg.h"

#include <gtest/gtest.h>

#include "evaluation/test_evaluation.h"

namespace layard::evaluation {
namespace {

TEST(Svg, EscapesMarkup) {
  EXPECT_EQ(escape_markup("<a href=\"x\">'&'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape_markup("\x1B[31m\n\xC3\xA4"), "\xEF\xBF\xBD[31m\n\xC3\xA4");
}

TEST(Svg, Numbers) {
  EXPECT_EQ(percent(0.8230476), "82.3%");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Svg, ReliabilityDrawsWhatTheBinsSay) {
  const std::vector<JudgedAnswer> answers = {{1.0, true}};
  const std::string svg = reliability_svg(reliability_bins(answers, 2));
  // The plot is from 52 to 462 and from 250 up to 30; the full bin is its right half.
  EXPECT_NE(svg.find(R"(<rect class="bar" x="258.0" y="30.0" width="203.0" height="220.0">)"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("1 answers, 100.0% right"), std::string::npos);
  EXPECT_NE(svg.find(R"(cx="462.0" cy="30.0")"), std::string::npos);
  EXPECT_EQ(reliability_svg(reliability_bins({}, 2)).find("class=\"bar\""), std::string::npos);
}

TEST(Svg, AbstentionScalesItsErrors) {
  // 1 of 20 wrong at first, none above 1/2: the axis ends at 10%, so 5% is its middle.
  std::vector<JudgedAnswer> answers(19, {0.9, true});
  answers.push_back({0.4, false});
  const std::string svg = abstention_svg(abstention_curve(answers, 4));
  EXPECT_NE(svg.find("d=\"M462.0,165.0 L441.5,300.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find(">10.0%</text>"), std::string::npos);
  EXPECT_NE(abstention_svg({}).find("M0,0"), std::string::npos);
}

TEST(Svg, BarsHaveNamesAndIntervals) {
  const Evaluation sample = sample_evaluation();
  const std::string svg = accuracy_svg(sample.buckets);
  EXPECT_NE(svg.find(">choice:3-5</text>"), std::string::npos);
  EXPECT_NE(svg.find("80.0% of 2,500, 95% interval 79.0% to 81.0%"), std::string::npos);
  std::vector<QuestionMetrics> named = sample.buckets;
  named[0].name = "<" + std::string(22, 'x') + "\xC3\xA4 and more";
  const std::string cut = accuracy_svg(named);
  EXPECT_NE(cut.find(">&lt;" + std::string(22, 'x') + "\xE2\x80\xA6</text>"), std::string::npos)
      << cut;
}

}  // namespace
}  // namespace layard::evaluation
