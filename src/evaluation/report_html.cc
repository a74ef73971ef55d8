// The report as one page: no script, no other file, nothing from a network.
#include <algorithm>
#include <string>

#include "evaluation/svg.h"
#include "layard/evaluation.h"
#include "layard/version.h"

namespace layard {
namespace {

using evaluation::escape_markup;
using evaluation::fixed;
using evaluation::grouped;
using evaluation::percent;

// Bars of more sources than these would be a page of their own; the table has them all.
constexpr std::size_t kSourceBarsMax = 24;

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #f7f5f0; --card: #ffffff; --ink: #1f2733;
  --soft: #5f6b7a; --line: #e3dfd6; --teal: #2d7d78; --teal-soft: #b9dbd7; --rust: #c25a2c; }
@media (prefers-color-scheme: dark) { :root { --paper: #13171c; --card: #1b2128; --ink: #e7ebf0;
  --soft: #98a4b3; --line: #2c343e; --teal: #63bdb5; --teal-soft: #27504e; --rust: #f09a68; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -0.01em; }
h2 { font-size: 19px; margin: 0 0 2px; }
p { margin: 0 0 12px; max-width: 72ch; }
code { font: 0.92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin-top: 20px; }
.verdict { display: flex; flex-wrap: wrap; gap: 12px 36px; align-items: center; }
.big { font-size: 62px; font-weight: 650; line-height: 1; letter-spacing: -0.03em;
  color: var(--teal); font-variant-numeric: tabular-nums; }
.verdict p { margin: 0; flex: 1 1 320px; }
.facts { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(134px, 1fr));
  margin-top: 20px; }
.fact { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 14px 12px; }
.fact b { display: block; font-size: 23px; font-weight: 620; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.fact span { font-weight: 600; font-size: 13px; }
.fact small { display: block; color: var(--soft); font-size: 12.5px; line-height: 1.35;
  margin-top: 4px; }
.plots .card { margin-top: 0; }
.plots { display: grid; gap: 20px; align-items: start; margin-top: 20px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }
.scroll { overflow-x: auto; margin-top: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 14px;
  font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; color: var(--soft); font-size: 13px; }
th, td { padding: 7px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: 0; max-width: 300px;
  overflow: hidden; text-overflow: ellipsis; }
tr.section td { border-bottom: 0; padding-top: 16px; color: var(--soft); font-size: 13px;
  font-weight: 600; }
tr.all td { font-weight: 650; }
.mistake { border-top: 1px solid var(--line); padding: 12px 0; }
.mistake p { margin: 4px 0 0; overflow-wrap: anywhere; max-width: none; }
.tag { display: inline-block; border-radius: 6px; padding: 0 7px; font-size: 14px;
  border: 1px solid var(--line); overflow-wrap: anywhere; }
.tag.no { color: var(--rust); border-color: var(--rust); }
.tag.yes { color: var(--teal); border-color: var(--teal); }
footer { margin-top: 28px; font-size: 13px; color: var(--soft); }
svg { width: 100%; height: auto; display: block; margin-top: 8px;
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
svg .grid { stroke: var(--line); } svg .ideal { stroke: var(--soft); stroke-dasharray: 4 4; }
svg .gap { stroke: var(--rust); stroke-width: 2; } svg .bar { fill: var(--teal-soft); }
svg .count { fill: var(--line); } svg .whisker { stroke: var(--teal); stroke-width: 2.5; }
svg .dot { fill: var(--teal); stroke: var(--card); stroke-width: 1.5; }
svg .curve { fill: none; stroke: var(--teal); stroke-width: 2.5; stroke-linejoin: round; }
svg text { fill: var(--soft); } svg .name { fill: var(--ink); font-size: 13px; }
svg .label { fill: var(--ink); font-weight: 600; } svg .end { text-anchor: end; }
svg .mid { text-anchor: middle; }
@media print { body { background: #fff; } .card, .fact { break-inside: avoid; } }
)";

std::string code(std::string_view text) { return "<code>" + escape_markup(text) + "</code>"; }

double mean_confidence(const QuestionMetrics& group) {
  double sum = 0;
  for (const ReliabilityBin& bin : group.bins) {
    sum += bin.confidence * static_cast<double>(bin.count);
  }
  return group.questions == 0 ? 0 : sum / static_cast<double>(group.questions);
}

// What the numbers say, in a sentence.
std::string confidence_words(const QuestionMetrics& all) {
  constexpr double kNear = 0.02;
  const double claimed = mean_confidence(all);
  const double gap = claimed - all.accuracy;
  std::string out = "Its answers claim to be right in " + percent(claimed) + " of the cases: ";
  if (gap > kNear) return out + "it is surer of itself than it should be.";
  if (gap < -kNear) return out + "it knows more than it claims.";
  return out + "about what they are.";
}

std::string verdict(const Evaluation& evaluation) {
  const QuestionMetrics& all = evaluation.all;
  return "<section class=\"card verdict\"><div class=\"big\">" + percent(all.accuracy) +
         "</div><p><b>" + grouped(all.right) + " of " + grouped(all.questions) +
         " questions</b> about " + grouped(evaluation.cases) +
         " texts are answered as their labels say. Other texts of the same kind would give " +
         percent(all.accuracy_low) + " to " + percent(all.accuracy_high) + " (95% interval).<br>" +
         confidence_words(all) + "</p></section>\n";
}

std::string fact(const std::string& name, const std::string& value, const std::string& about) {
  return "<div class=\"fact\"><span>" + name + "</span><b>" + value + "</b><small>" + about +
         "</small></div>\n";
}

std::string flip_rate(const QuestionMetrics& group) {
  if (group.reversed == 0) return "\xE2\x80\x93";
  return percent(static_cast<double>(group.flipped) / static_cast<double>(group.reversed));
}

std::string facts(const Evaluation& evaluation) {
  const QuestionMetrics& all = evaluation.all;
  std::string out = "<div class=\"facts\">\n";
  out += fact("Soft accuracy", percent(all.soft_accuracy),
              "probability given to what is right; more is better");
  out += fact("ECE", percent(all.calibration_error),
              "calibration error: gap of confidence and accuracy; less is better");
  out += fact("Brier score", fixed(all.brier, 3), "squared error of all probabilities, 0 to 2");
  out += fact("Log loss", fixed(all.nll, 3), "surprise at the labels, in nats; less is better");
  if (all.score_questions > 0) {
    out += fact("Score error", fixed(all.score_error, 2),
                "levels between score and label, in the mean");
  }
  if (all.reversed > 0) {
    out += fact("Order flips", flip_rate(all),
                "of " + grouped(all.reversed) + " choices change with their options reversed");
  }
  out += fact("Time", fixed(evaluation.ms_per_question, 1) + " ms",
              "a question, asked in shared passes");
  return out + "</div>\n";
}

std::string figure(const std::string& title, const std::string& about, const std::string& svg) {
  return "<section class=\"card\"><h2>" + title + "</h2><p class=\"soft\">" + about + "</p>" + svg +
         "</section>\n";
}

// The least threshold of the curve under which few enough answers are wrong.
std::string abstention_words(const Evaluation& evaluation) {
  constexpr double kWanted = 0.05;
  for (const AbstentionPoint& point : evaluation.abstention) {
    if (point.answered == 0 || point.error > kWanted) continue;
    if (point.threshold == 0) return "Even with every question answered, at most 5% are wrong.";
    return "Answers from confidence " + fixed(point.threshold, 2) + " on are wrong in " +
           percent(point.error) + " and cover " + percent(point.coverage) + " of the questions.";
  }
  return "No threshold brings wrong answers down to 5%.";
}

std::string plots(const Evaluation& evaluation) {
  std::string out = "<div class=\"plots\">\n";
  out += figure("Is it right as often as it says?",
                "Bars on the dashed line are honest; below it the model is too sure.",
                evaluation::reliability_svg(evaluation.all.bins));
  out += figure("What if it may stay silent?",
                abstention_words(evaluation) + " Numbers on the curve are thresholds.",
                evaluation::abstention_svg(evaluation.abstention));
  out += figure("Accuracy by kind of question", "Type and number of options, with 95% intervals.",
                evaluation::accuracy_svg(evaluation.buckets));
  const std::size_t sources = evaluation.sources.size();
  if (sources > 1 && sources <= kSourceBarsMax) {
    out += figure("Accuracy by source", "As the lines name them, with 95% intervals.",
                  evaluation::accuracy_svg(evaluation.sources));
  }
  return out + "</div>\n";
}

std::string group_row(const QuestionMetrics& group, const char* kind) {
  std::string out = "<tr" + std::string(kind) + "><td title=\"" + escape_markup(group.name) +
                    "\">" + escape_markup(group.name) + "</td>";
  for (const std::string& cell :
       {grouped(group.questions), percent(group.accuracy),
        percent(group.accuracy_low) + " \xE2\x80\x93 " + percent(group.accuracy_high),
        percent(group.soft_accuracy), fixed(group.brier, 3), fixed(group.nll, 3),
        percent(group.calibration_error), flip_rate(group)}) {
    out += "<td>" + cell + "</td>";
  }
  return out + "</tr>\n";
}

std::string group_rows(const char* title, const std::vector<QuestionMetrics>& groups) {
  if (groups.empty()) return "";
  std::string out =
      "<tr class=\"section\"><td colspan=\"9\">" + std::string(title) + "</td></tr>\n";
  for (const QuestionMetrics& group : groups) out += group_row(group, "");
  return out;
}

std::string groups_table(const Evaluation& evaluation) {
  std::string out =
      "<section class=\"card\"><h2>All numbers</h2><div class=\"scroll\"><table>\n"
      "<thead><tr><th></th><th>questions</th><th>accuracy</th><th>95% interval</th>"
      "<th>soft</th><th>Brier</th><th>log loss</th><th>ECE</th><th>flips</th></tr></thead>"
      "<tbody>\n";
  out += group_row(evaluation.all, " class=\"all\"");
  out += group_rows("by type", evaluation.types);
  out += group_rows("by type and number of options", evaluation.buckets);
  out += group_rows("by source", evaluation.sources);
  return out + "</tbody></table></div></section>\n";
}

std::string mistakes(const Evaluation& evaluation) {
  if (evaluation.mistakes.empty()) return "";
  std::string out =
      "<section class=\"card\"><h2>Most confident mistakes</h2>"
      "<p class=\"soft\">Read these first: now and then it is the label that is at fault.</p>\n";
  for (const Mistake& one : evaluation.mistakes) {
    out += "<div class=\"mistake\"><span class=\"soft\">line " + grouped(one.line) + ", " +
           code(one.question) + "</span> answered <span class=\"tag no\">" +
           escape_markup(one.answered) + "</span> at " + percent(one.confidence) +
           ", labelled <span class=\"tag yes\">" + escape_markup(one.expected) + "</span><p>" +
           escape_markup(one.text) + "</p></div>\n";
  }
  return out + "</section>\n";
}

std::string footer(const Evaluation& evaluation) {
  std::string out = "<footer><p>Model " + code(evaluation.model) + ", revision " +
                    code(evaluation.revision) + ", weights sha256 " +
                    code(evaluation.weights_sha256) + ", computed in " + code(evaluation.dtype);
  if (!evaluation.calibration.empty()) out += ", calibration " + code(evaluation.calibration);
  out += ".";
  if (evaluation.truncated > 0) {
    out += " " + grouped(evaluation.truncated) + " texts were cut to fit.";
  }
  return out + " Written by layard " + escape_markup(version()) +
         "; its docs/evaluation.md defines every number.</p></footer>\n";
}

}  // namespace

std::string evaluation_html(const Evaluation& evaluation, std::string_view data) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_markup(evaluation.model) + ": " + percent(evaluation.all.accuracy) +
         "</title>\n<style>" + kStyle +
         "</style>\n</head>\n<body>\n<main>\n<h1>How good are the "
         "answers of " +
         escape_markup(evaluation.model) +
         "?</h1>\n<p class=\"soft\">Asked the "
         "labelled questions of " +
         code(data) + ".</p>\n" + verdict(evaluation) + facts(evaluation) + plots(evaluation) +
         groups_table(evaluation) + mistakes(evaluation) + footer(evaluation) +
         "</main>\n</body>\n</html>\n";
}

}  // namespace layard
