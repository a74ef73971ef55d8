#include <gtest/gtest.h>

#include "evaluation/test_evaluation.h"

namespace layard {
namespace {

TEST(ReportHtml, StandsAlone) {
  const std::string page = evaluation_html(evaluation::sample_evaluation(), "cases.jsonl");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* absent : {"<script", "http:", "https:", "url(", "@import", "<link", "<img"}) {
    EXPECT_EQ(page.find(absent), std::string::npos) << absent;
  }
  for (const char* present : {"82.3%", "4,321 of 5,250 questions", "cases.jsonl",
                              "prefers-color-scheme: dark", "choice:3-5"}) {
    EXPECT_NE(page.find(present), std::string::npos) << present;
  }
}

TEST(ReportHtml, EscapesEveryText) {
  Evaluation given = evaluation::sample_evaluation();
  const std::string evil = "<script>\"'&";
  given.model = given.revision = given.weights_sha256 = given.dtype = given.calibration = evil;
  given.sources.push_back(given.sources[0]);
  for (QuestionMetrics& source : given.sources) source.name = evil;
  given.mistakes = {{1, evil, evil, evil, 0.5, evil}};
  const std::string page = evaluation_html(given, evil);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;&quot;&#39;&amp;"), std::string::npos);
}

TEST(ReportHtml, SaysWhatTheNumbersSay) {
  Evaluation given = evaluation::sample_evaluation();
  const auto with_accuracy = [&given](double accuracy) {
    given.all.accuracy = accuracy;
    given.all.bins = reliability_bins(std::vector<JudgedAnswer>{{0.8, true}}, kReliabilityBins);
    given.all.questions = 1;
    return evaluation_html(given, "x");
  };
  EXPECT_NE(with_accuracy(0.7).find("surer of itself than it should be"), std::string::npos);
  EXPECT_NE(with_accuracy(0.9).find("knows more than it claims"), std::string::npos);
  EXPECT_NE(with_accuracy(0.81).find("about what they are"), std::string::npos);
  const auto curve = [&given](std::vector<JudgedAnswer> answers) {
    given.abstention = abstention_curve(answers, 10);
    return evaluation_html(given, "x");
  };
  EXPECT_NE(curve({{0.5, true}}).find("Even with every question"), std::string::npos);
  EXPECT_NE(curve({{0.5, false}}).find("No threshold"), std::string::npos);
  EXPECT_NE(curve({{0.5, false}, {0.75, true}})
                .find("from confidence 0.60 on are wrong in 0.0% and cover 50.0%"),
            std::string::npos);
}

TEST(ReportHtml, EmptyEvaluation) {
  EXPECT_NE(evaluation_html({}, "x").find("0 of 0 questions"), std::string::npos);
}

}  // namespace
}  // namespace layard
