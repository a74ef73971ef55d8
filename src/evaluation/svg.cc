#include "evaluation/svg.h"

#include <algorithm>
#include <cmath>

namespace layard::evaluation {
namespace {

// The plots' own units; the page scales them.
constexpr double kWidth = 480;
constexpr double kHeight = 360;
constexpr double kRowHeight = 30;
constexpr std::size_t kBarNameBytes = 24;

struct Box {
  double left, top, right, bottom;
  double x(double share) const { return left + share * (right - left); }
  double y(double share) const { return bottom - share * (bottom - top); }
};

std::string number(double value) { return fixed(value, 1); }

std::string open_svg(double height, std::string_view label) {
  return "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
         "\" role=\"img\" aria-label=\"" + escape_markup(label) + "\">\n";
}

std::string line(std::string_view kind, double x1, double y1, double x2, double y2) {
  return "<line class=\"" + std::string(kind) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
         "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

// With what a pointer that rests on it is told.
std::string rectangle(std::string_view kind, const Box& box, std::string_view title) {
  return "<rect class=\"" + std::string(kind) + "\" x=\"" + number(box.left) + "\" y=\"" +
         number(box.top) + "\" width=\"" + number(std::max(box.right - box.left, 0.0)) +
         "\" height=\"" + number(std::max(box.bottom - box.top, 0.0)) + "\"><title>" +
         escape_markup(title) + "</title></rect>\n";
}

std::string dot(double x, double y, std::string_view title) {
  return "<circle class=\"dot\" cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"4\"><title>" +
         escape_markup(title) + "</title></circle>\n";
}

std::string words(std::string_view kind, double x, double y, std::string_view text) {
  return "<text class=\"" + std::string(kind) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\">" + escape_markup(text) + "</text>\n";
}

// Both axes with lines at the quarters; the vertical one ends at `y_max`.
std::string axes(const Box& plot, double y_max, std::string_view x_title,
                 std::string_view y_title) {
  std::string out;
  const int digits = y_max < 0.2 ? 1 : 0;
  for (int i = 0; i <= 4; ++i) {
    const double share = i / 4.0;
    out += line("grid", plot.left, plot.y(share), plot.right, plot.y(share));
    out += words("tick end", plot.left - 8, plot.y(share) + 4,
                 fixed(100 * share * y_max, digits) + "%");
    out += words("tick mid", plot.x(share), plot.bottom + 18, fixed(100 * share, 0) + "%");
  }
  out += words("axis mid", (plot.left + plot.right) / 2, plot.bottom + 40, x_title);
  return out + words("axis", plot.left, plot.top - 10, y_title);
}

std::string bin_title(const ReliabilityBin& bin) {
  return "confidence " + fixed(bin.low, 3) + " to " + fixed(bin.high, 3) + ": " +
         grouped(bin.count) + " answers, " + percent(bin.accuracy) + " right, mean confidence " +
         percent(bin.confidence);
}

// The smallest of the usual ends of an axis that is not below `value`.
double axis_end(double value) {
  for (const double end : {0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8}) {
    if (value <= end) return end;
  }
  return 1;
}

std::string point_title(const AbstentionPoint& point) {
  return "from confidence " + fixed(point.threshold, 2) + ": " + percent(point.coverage) +
         " answered, " + percent(point.error) + " of those wrong";
}

// A name that fits beside its bar, ended between two characters.
std::string bar_name(const std::string& name) {
  if (name.size() <= kBarNameBytes) return name;
  std::size_t end = kBarNameBytes - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end) + "\xE2\x80\xA6";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7F') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string grouped(std::size_t value) {
  std::string out = std::to_string(value);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

std::string reliability_svg(const std::vector<ReliabilityBin>& bins) {
  const Box plot{52, 30, kWidth - 18, 250};
  const Box counts{plot.left, 300, plot.right, 340};
  std::size_t most = 1;
  for (const ReliabilityBin& bin : bins) most = std::max(most, bin.count);
  std::string out = open_svg(kHeight, "Share of right answers over confidence");
  out += axes(plot, 1, "answer confidence, and how many answers have it", "right");
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    const double left = plot.x(bin.low) + 1;
    const double right = plot.x(bin.high) - 1;
    out += rectangle("bar", {left, plot.y(bin.accuracy), right, plot.bottom}, bin_title(bin));
    const double share = static_cast<double>(bin.count) / static_cast<double>(most);
    out += rectangle("count", {left, counts.y(share), right, counts.bottom}, bin_title(bin));
  }
  out += line("ideal", plot.left, plot.bottom, plot.right, plot.top);
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    const double x = plot.x(bin.confidence);
    out += line("gap", x, plot.y(bin.confidence), x, plot.y(bin.accuracy));
    out += dot(x, plot.y(bin.accuracy), bin_title(bin));
  }
  return out + "</svg>\n";
}

std::string abstention_svg(const std::vector<AbstentionPoint>& points) {
  const Box plot{52, 30, kWidth - 18, 300};
  double worst = 0;
  for (const AbstentionPoint& point : points) {
    if (point.answered > 0) worst = std::max(worst, point.error);
  }
  const double y_max = axis_end(worst);
  std::string out = open_svg(kHeight, "Share of wrong answers over answered questions");
  out += axes(plot, y_max, "questions that are answered", "wrong of those");
  std::string path;
  std::string dots;
  double labelled_x = 2 * kWidth;
  double last_coverage = -1;
  for (const AbstentionPoint& point : points) {
    if (point.answered == 0 || point.coverage == last_coverage) continue;
    last_coverage = point.coverage;
    const double x = plot.x(point.coverage);
    const double y = plot.y(point.error / y_max);
    path += (path.empty() ? "M" : " L") + number(x) + "," + number(y);
    dots += dot(x, y, point_title(point));
    if (labelled_x - x < 56) continue;
    labelled_x = x;
    dots += words("label end", x + 2, y - 10, fixed(point.threshold, 2));
  }
  out += "<path class=\"curve\" d=\"" + (path.empty() ? "M0,0" : path) + "\"/>\n";
  return out + dots + "</svg>\n";
}

std::string accuracy_svg(const std::vector<QuestionMetrics>& groups) {
  const double bottom = 30 + kRowHeight * static_cast<double>(groups.size());
  const Box plot{184, 24, kWidth - 62, bottom};
  std::string out = open_svg(bottom + 26, "Accuracy by group with 95% intervals");
  for (int i = 0; i <= 4; ++i) {
    const double x = plot.x(i / 4.0);
    out += line("grid", x, plot.top, x, plot.bottom);
    out += words("tick mid", x, plot.bottom + 18, std::to_string(25 * i) + "%");
  }
  double top = plot.top + 4;
  for (const QuestionMetrics& group : groups) {
    const double middle = top + kRowHeight / 2 - 2;
    const std::string title = group.name + ": " + percent(group.accuracy) + " of " +
                              grouped(group.questions) + ", 95% interval " +
                              percent(group.accuracy_low) + " to " + percent(group.accuracy_high);
    out += words("name end", plot.left - 10, middle + 4, bar_name(group.name));
    out +=
        rectangle("bar", {plot.left, top + 3, plot.x(group.accuracy), top + kRowHeight - 7}, title);
    out += line("whisker", plot.x(group.accuracy_low), middle, plot.x(group.accuracy_high), middle);
    out += words("tick", plot.right + 8, middle + 4, percent(group.accuracy));
    top += kRowHeight;
  }
  return out + "</svg>\n";
}

}  // namespace layard::evaluation
