/// The plots of the HTML report: SVG texts whose colours are classes of the page's style.
/// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "layard/evaluation.h"

namespace layard::evaluation {

/// `text` as HTML and SVG take it in elements and in quoted attributes; control characters become
/// U+FFFD.
std::string escape_markup(std::string_view text);

using base::fixed;
using base::percent;

/// `4,321`.
std::string grouped(std::size_t value);

/// Accuracy over confidence, bin by bin, with how many answers each bin has.
std::string reliability_svg(const std::vector<ReliabilityBin>& bins);

/// Wrong answers over answered questions, along the thresholds.
std::string abstention_svg(const std::vector<AbstentionPoint>& points);

/// One bar of accuracy a group, with its 95% interval.
std::string accuracy_svg(const std::vector<QuestionMetrics>& groups);

}  // namespace layard::evaluation
