#include "gateway/decision_log_reader.h"

#include <algorithm>

#include "base/json.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr double kNumberMax = 1e12;

enum class LineUse : std::uint8_t { kUsed, kUnused, kBroken };

// A number that may be absent or null; false where it is something else.
bool read_number(const JsonValue& line, const char* name, std::optional<double>& out) {
  const JsonValue* member = line.find(name);
  if (member == nullptr || member->is_null()) return true;
  const double value = member->as_double();
  if (!member->is_number() || !(value >= 0 && value <= kNumberMax)) return false;
  out = value;
  return true;
}

bool read_text(const JsonValue& line, const char* name, std::string& out) {
  const JsonValue* member = line.find(name);
  if (member == nullptr || member->is_null()) return true;
  if (!member->is_string()) return false;
  out = member->text();
  return true;
}

LineUse read_line(std::string_view text, LoggedDecision& out) {
  if (text.size() > kDecisionLineBytesMax) return LineUse::kBroken;
  const auto line = base::parse_json(text, {.bytes_max = kDecisionLineBytesMax, .depth_max = 32});
  if (!line.ok() || !line->is_object()) return LineUse::kBroken;
  std::string source;
  std::optional<double> status;
  const bool read = read_text(*line, "class", out.class_name) &&
                    read_text(*line, "source", source) && read_number(*line, "status", status) &&
                    read_number(*line, "decision_ms", out.decision_ms) &&
                    read_number(*line, "prompt_tokens", out.prompt_tokens) &&
                    read_number(*line, "completion_tokens", out.output_tokens) &&
                    read_number(*line, "cached_tokens", out.cached_tokens) &&
                    read_number(*line, "turns", out.turns);
  if (!read) return LineUse::kBroken;
  out.asked = source == "model";
  const JsonValue* cancelled = line->find("cancelled");
  const bool gone = cancelled != nullptr && cancelled->is_bool() && cancelled->as_bool();
  const bool failed = status && !(*status >= 200 && *status < 300);
  if (gone || failed || out.class_name.empty() || out.class_name == "-") return LineUse::kUnused;
  return LineUse::kUsed;
}

}  // namespace

Result<LoggedDecisions> read_decision_log(std::string_view text, const std::string& source) {
  if (text.size() > kDecisionLogBytesMax) {
    return Error{ErrorCode::kInvalidRequest,
                 "decision log: more than 256 MiB; give a part of it: " + source};
  }
  LoggedDecisions out;
  std::size_t number = 0;
  while (!text.empty() && out.decisions.size() < kDecisionsMax) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    ++out.lines;
    LoggedDecision decision;
    const LineUse use = read_line(line, decision);
    if (use == LineUse::kUsed) out.decisions.push_back(std::move(decision));
    if (use == LineUse::kUnused) ++out.unused;
    if (use != LineUse::kBroken) continue;
    if (++out.broken <= kBrokenLinesShown) out.broken_lines.push_back(number);
  }
  if (out.lines > 0 && out.broken == out.lines) {
    return Error{ErrorCode::kInvalidRequest,
                 "decision log: no line of " + source + " is a decision as JSON"};
  }
  return out;
}

std::string broken_lines_text(const LoggedDecisions& log) {
  if (log.broken == 0) return "";
  std::string out = std::to_string(log.broken) + " of " + std::to_string(log.lines) +
                    (log.broken == 1 ? " lines is broken: " : " lines are broken: ");
  for (std::size_t i = 0; i < log.broken_lines.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(log.broken_lines[i]);
  }
  return out + (log.broken > log.broken_lines.size() ? ", ..." : "");
}

}  // namespace layard::gateway
