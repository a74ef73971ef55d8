#include "gateway/route_traffic.h"

#include <algorithm>

#include "gateway/speed_fit.h"

namespace layard::gateway {
namespace {

constexpr int kSteps = 500;

struct ClassLog {
  std::vector<double> prompts;
  std::vector<double> outputs;
  std::vector<double> cached;
  double count = 0;
};

// Shares of true classes from counts of answers.
std::vector<double> true_shares(const RouteTraffic& traffic, const std::vector<ClassLog>& logs,
                                double all, const Confusion& confusion) {
  const std::size_t n = logs.size();
  std::vector<std::vector<double>> taken(n, std::vector<double>(n));  // [answer][label]
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t c = 0; c < n; ++c) {
      taken[k][c] = confusion.taken(traffic.classes[c].class_name, traffic.classes[k].class_name);
    }
  }
  std::vector<double> shares(n, 1.0 / static_cast<double>(n));
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(n, 0.0);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      double seen = 0;
      std::vector<double> parts(n);
      for (std::size_t c = 0; c < n; ++c) {
        parts[c] = shares[c] * taken[k][c];
        seen += parts[c];
      }
      // An answer that the confusion never saw is taken at its word.
      if (seen <= 0) parts[k] = seen = 1;
      for (std::size_t c = 0; c < n; ++c) next[c] += logs[k].count / all * parts[c] / seen;
    }
    for (const double share : next) sum += share;
    for (std::size_t c = 0; c < n; ++c) shares[c] = next[c] / sum;
  }
  return shares;
}

}  // namespace

const ClassTraffic* RouteTraffic::find(std::string_view class_name) const {
  const auto found = std::ranges::find(classes, class_name, &ClassTraffic::class_name);
  return found == classes.end() ? nullptr : &*found;
}

RouteTraffic case_traffic(const MeasuredEvidence& evidence) {
  RouteTraffic out;
  for (const MeasuredCase& one : evidence.cases) {
    const auto found = std::ranges::find(out.classes, one.class_name, &ClassTraffic::class_name);
    if (found == out.classes.end()) {
      out.classes.push_back({one.class_name, 1, std::nullopt});
    } else {
      ++found->share;
    }
  }
  for (ClassTraffic& one : out.classes) one.share /= static_cast<double>(evidence.cases.size());
  return out;
}

RouteTraffic logged_traffic(const MeasuredEvidence& evidence, const LoggedDecisions& log,
                            const Confusion& confusion) {
  RouteTraffic out = case_traffic(evidence);
  std::vector<ClassLog> logs(out.classes.size());
  std::vector<double> decisions_ms;
  std::vector<double> turns;
  for (const LoggedDecision& decision : log.decisions) {
    if (decision.asked && decision.decision_ms) decisions_ms.push_back(*decision.decision_ms);
    if (decision.turns && *decision.turns >= 1) turns.push_back(*decision.turns);
    const auto found =
        std::ranges::find(out.classes, decision.class_name, &ClassTraffic::class_name);
    if (found == out.classes.end()) {
      ++out.others;
      continue;
    }
    ClassLog& into = logs[static_cast<std::size_t>(found - out.classes.begin())];
    ++into.count;
    ++out.decisions;
    if (decision.prompt_tokens) {
      into.prompts.push_back(*decision.prompt_tokens);
      into.cached.push_back(decision.cached_tokens.value_or(0));
    }
    if (decision.output_tokens) into.outputs.push_back(*decision.output_tokens);
  }
  if (!decisions_ms.empty()) out.decision_ms = median(decisions_ms);
  double sum = 0;
  for (const double one : turns) sum += one;
  if (!turns.empty()) out.turns = sum / static_cast<double>(turns.size());
  if (out.decisions == 0) return out;
  const auto shares = true_shares(out, logs, static_cast<double>(out.decisions), confusion);
  for (std::size_t c = 0; c < logs.size(); ++c) {
    out.classes[c].share = shares[c];
    if (logs[c].prompts.empty() || logs[c].outputs.empty()) continue;
    out.classes[c].size =
        RequestSize{median(logs[c].prompts), median(logs[c].cached), median(logs[c].outputs)};
  }
  return out;
}

}  // namespace layard::gateway
