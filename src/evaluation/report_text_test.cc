#include <gtest/gtest.h>

#include "evaluation/test_evaluation.h"

namespace layard {
namespace {

TEST(ReportText, FirstLineAndRows) {
  const std::string text = print_evaluation(evaluation::sample_evaluation());
  EXPECT_TRUE(
      text.starts_with("accuracy 82.3% (4321/5250)\n"
                       "95% interval 81.3% to 83.3%, by drawing 3000 lines anew\n"
                       "model starter (sha256:0123456789ab), float32\n"))
      << text;
  for (const char* part :
       {"choice:3-5", "  2500     80.0%    79.0% - 81.0%   75.1%   0.250   0.500   0.043    4.5%\n",
        "  2750     84.4%    83.4% - 85.4%   75.1%   0.250   0.500   0.043\n",
        "scores are off by 0.250 levels", "0.867 to 0.933          2            90.0%     50.0%\n",
        "9 of 200 choices are answered otherwise", "2 texts were cut to fit\n",
        "12.35 ms a question\n", "0.60      50.0%           100.0%\n",
        "1.00       0.0%                -"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(ReportText, NothingIsLeftOutQuietly) {
  Evaluation without = evaluation::sample_evaluation();
  without.all.reversed = without.truncated = without.all.score_questions = 0;
  without.calibration = "cal.json";
  without.sources.clear();
  const std::string text = print_evaluation(without);
  EXPECT_EQ(text.find("reversed"), std::string::npos);
  EXPECT_EQ(text.find("cut to fit"), std::string::npos);
  EXPECT_EQ(text.find("scores are off"), std::string::npos);
  EXPECT_EQ(text.find("mail"), std::string::npos);
  EXPECT_NE(text.find("calibration cal.json"), std::string::npos);
}

TEST(ReportText, NamesStayOnOneLine) {
  Evaluation given = evaluation::sample_evaluation();
  given.sources[0].name = "two\nlines";
  given.sources.push_back(given.sources[0]);
  given.sources[1].name = "x" + std::string(28, 'y') + "\xC3\xA4\xC3\xA4\xC3\xA4";
  const std::string text = print_evaluation(given);
  EXPECT_NE(text.find("\ntwo lines "), std::string::npos) << text;
  EXPECT_NE(text.find("\nx" + std::string(28, 'y') + "... "), std::string::npos) << text;
}

TEST(ReportText, EmptyEvaluation) {
  EXPECT_TRUE(print_evaluation({}).starts_with("accuracy 0.0% (0/0)\n"));
}

}  // namespace
}  // namespace layard
