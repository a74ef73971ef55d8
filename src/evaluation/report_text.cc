// The report for a terminal.
#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "layard/evaluation.h"

namespace layard {
namespace {

using base::fixed;
using base::percent;
using base::right_aligned;

constexpr std::size_t kNameWidthMin = 12;
constexpr std::size_t kNameWidthMax = 32;
// Every fifth point of the curve: thresholds 0, 0.1, ..., 1.
constexpr std::size_t kPointsBetween = 5;

std::string count(std::size_t value) { return std::to_string(value); }

// On one line, and cut between two characters.
std::string left_aligned(std::string text, std::size_t width) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  if (text.size() > width) {
    std::size_t end = width - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "...";
  }
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

struct Column {
  const char* title;
  std::size_t width;
};

constexpr std::array<Column, 8> kColumns = {{{"questions", 9},
                                             {"accuracy", 9},
                                             {"95% interval", 16},
                                             {"soft", 7},
                                             {"Brier", 7},
                                             {"NLL", 7},
                                             {"ECE", 7},
                                             {"flips", 7}}};

std::string header(std::size_t name_width) {
  std::string out(name_width, ' ');
  for (const Column& column : kColumns) out += " " + right_aligned(column.title, column.width);
  return out + "\n";
}

std::string row(const QuestionMetrics& group, std::size_t name_width) {
  const std::array<std::string, kColumns.size()> cells = {
      count(group.questions),
      percent(group.accuracy),
      percent(group.accuracy_low) + " - " + percent(group.accuracy_high),
      percent(group.soft_accuracy),
      fixed(group.brier, 3),
      fixed(group.nll, 3),
      fixed(group.calibration_error, 3),
      group.reversed == 0
          ? ""
          : percent(static_cast<double>(group.flipped) / static_cast<double>(group.reversed))};
  std::string out = left_aligned(group.name, name_width);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += " " + right_aligned(cells[i], kColumns[i].width);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string groups_table(const Evaluation& evaluation) {
  std::size_t width = kNameWidthMin;
  for (const auto* groups : {&evaluation.types, &evaluation.buckets, &evaluation.sources}) {
    for (const QuestionMetrics& group : *groups) width = std::max(width, group.name.size());
  }
  width = std::min(width, kNameWidthMax);
  std::string out = "\n" + header(width) + row(evaluation.all, width);
  for (const auto* groups : {&evaluation.types, &evaluation.buckets, &evaluation.sources}) {
    if (groups->empty()) continue;
    out += "\n";
    for (const QuestionMetrics& group : *groups) out += row(group, width);
  }
  return out;
}

std::string reliability_table(const Evaluation& evaluation) {
  std::string out = "\nconfidence        answers  mean confidence  accuracy\n";
  for (const ReliabilityBin& bin : evaluation.all.bins) {
    if (bin.count == 0) continue;
    out += fixed(bin.low, 3) + " to " + fixed(bin.high, 3) + right_aligned(count(bin.count), 11) +
           right_aligned(percent(bin.confidence), 17) + right_aligned(percent(bin.accuracy), 10) +
           "\n";
  }
  return out;
}

std::string abstention_table(const Evaluation& evaluation) {
  std::string out = "\nanswer only from confidence   answered   wrong of those\n";
  for (std::size_t i = 0; i < evaluation.abstention.size(); i += kPointsBetween) {
    const AbstentionPoint& point = evaluation.abstention[i];
    out += right_aligned(fixed(point.threshold, 2), 27) +
           right_aligned(percent(point.coverage), 11) +
           right_aligned(point.answered == 0 ? "-" : percent(point.error), 17) + "\n";
  }
  return out;
}

}  // namespace

std::string print_evaluation(const Evaluation& evaluation) {
  const QuestionMetrics& all = evaluation.all;
  std::string out = "accuracy " + percent(all.accuracy) + " (" + count(all.right) + "/" +
                    count(all.questions) + ")\n";
  out += "95% interval " + percent(all.accuracy_low) + " to " + percent(all.accuracy_high) +
         ", by drawing " + count(evaluation.cases) + " lines anew\n";
  out += "model " + evaluation.model + " (" + evaluation.revision + "), " + evaluation.dtype;
  if (!evaluation.calibration.empty()) out += ", calibration " + evaluation.calibration;
  out += "\n" + groups_table(evaluation);
  if (all.score_questions > 0) {
    out += "\nscores are off by " + fixed(all.score_error, 3) + " levels in the mean\n";
  }
  out += reliability_table(evaluation) + abstention_table(evaluation);
  if (all.reversed > 0) {
    out += "\n" + count(all.flipped) + " of " + count(all.reversed) +
           " choices are answered otherwise with their options reversed\n";
  }
  if (evaluation.truncated > 0) {
    out += count(evaluation.truncated) + " texts were cut to fit\n";
  }
  return out + fixed(evaluation.ms_per_question, 2) + " ms a question\n";
}

}  // namespace layard
