// The report of a fit for a terminal.
#include <algorithm>

#include "base/number_text.h"
#include "layard/evaluation.h"

namespace layard {
namespace {

using base::fixed;
using base::right_aligned;

constexpr std::size_t kNameWidth = 12;

std::string before_after(const TemperatureFit& row, double before, double after) {
  return row.held_out == 0 ? "-" : fixed(before, 3) + " -> " + fixed(after, 3);
}

std::string line(const TemperatureFit& row, const std::string& temperature,
                 const std::string& threshold, const std::string& note) {
  std::string out = row.name;
  out.resize(std::max(kNameWidth, out.size()), ' ');
  out += right_aligned(std::to_string(row.questions), 10) + right_aligned(temperature, 13);
  out += right_aligned(before_after(row, row.nll_before, row.nll_after), 18);
  out += right_aligned(before_after(row, row.calibration_error_before, row.calibration_error_after),
                       18);
  out += right_aligned(threshold, 11) + (note.empty() ? "" : "  " + note);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string row_line(const TemperatureFit& row) {
  const bool is_bucket = row.name.find(':') != std::string::npos;
  std::string note;
  if (row.clamped) note = "at a bound of [0.5, 5]";
  if (!row.fitted) note = is_bucket ? "too few: its type's" : "too few: not fitted";
  return line(row, fixed(row.temperature, 4), row.has_threshold ? fixed(row.threshold, 4) : "",
              note);
}

}  // namespace

std::string print_fit(const CalibrationFit& fit) {
  std::string out(kNameWidth, ' ');
  out += " questions  temperature               NLL               ECE  threshold\n";
  out += line(fit.all, "", "", "");
  for (const TemperatureFit& row : fit.types) out += row_line(row);
  for (const TemperatureFit& row : fit.buckets) out += row_line(row);
  return out + "NLL and ECE before and after are of " + std::to_string(fit.all.held_out) +
         " questions that were held out; what is written is fitted on all " +
         std::to_string(fit.all.questions) + "\n";
}

}  // namespace layard
