#include <gtest/gtest.h>

#include "layard/evaluation.h"

namespace layard {
namespace {

TEST(FitText, ALineForEach) {
  CalibrationFit fit;
  fit.all = {
      .name = "all", .questions = 2500, .held_out = 500, .nll_before = 0.9, .nll_after = 0.7};
  fit.types = {{.name = "choice", .questions = 2500, .temperature = 1.5, .fitted = true}};
  fit.buckets = {{.name = "choice:3-5",
                  .questions = 2400,
                  .temperature = 5,
                  .fitted = true,
                  .clamped = true,
                  .held_out = 480,
                  .nll_before = 1,
                  .nll_after = 0.5,
                  .calibration_error_before = 0.2,
                  .calibration_error_after = 0.0125,
                  .threshold = 0.8125,
                  .has_threshold = true},
                 {.name = "choice:11+", .questions = 100, .temperature = 1.5}};
  const std::string text = print_fit(fit);
  for (const char* part :
       {"all               2500                 0.900 -> 0.700    0.000 -> 0.000\n",
        "choice            2500       1.5000                 -                 -\n",
        "choice:3-5        2400       5.0000    1.000 -> 0.500    0.200 -> 0.013     0.8125"
        "  at a bound of [0.5, 5]\n",
        "  too few: its type's\n", "are of 500 questions that were held out",
        "fitted on all 2500\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace layard
