#include "gateway/derive_words.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace layard::gateway {
namespace {

using base::fixed;

constexpr double kGb = 1e9;
// Speeds that differ by less are not worth a word.
constexpr double kSpeedShareMin = 0.02;

std::string rate_words(double tps) { return tps < 100 ? fixed(tps, 1) : fixed(tps, 0); }

std::string gb_words(double bytes) { return fixed(bytes / kGb, 1) + " GB"; }

// `-1.93 s` is read as less: the sign is kept.
std::string interval_words(const DerivedRow& row) {
  const bool slower = row.gain.mean < 0;
  const double low = slower ? -row.gain.high : row.gain.low;
  const double high = slower ? -row.gain.low : row.gain.high;
  return " (95 % " + time_words(low) + " to " + time_words(high) + ", " +
         std::to_string(row.prompts) + " prompts)";
}

bool differ(double from, double to) {
  return from > 0 && to > 0 && std::abs(from - to) > kSpeedShareMin * from;
}

// `reads 352 instead of 98.0 and writes 28.2 instead of 17.8 tokens/s`
std::string speed_words(const DerivedRow& row) {
  const DeviceSpeed& a = row.default_speed;
  const DeviceSpeed& b = row.other_speed;
  const bool reads = differ(a.prefill_tps, b.prefill_tps);
  const bool writes = differ(a.decode_tps, b.decode_tps);
  if (!reads && !writes) return "";
  std::string out = ": it ";
  if (reads) {
    out += "reads " + rate_words(b.prefill_tps) + " instead of " + rate_words(a.prefill_tps);
  }
  if (reads && writes) out += " and ";
  if (writes) {
    out += "writes " + rate_words(b.decode_tps) + " instead of " + rate_words(a.decode_tps);
  }
  return out + " tokens/s";
}

std::string gain_words(const DerivedRow& row, const Derivation& derivation) {
  const bool faster = row.gain.mean > 0;
  return row.other + (faster ? " saves " : " takes ") + time_words(std::abs(row.gain.mean)) +
         (faster ? "" : " more") + " a request" + interval_words(row) +
         (derivation.misroutes_known && !row.by_size ? ", misroutes counted" : "") +
         speed_words(row);
}

// Where a decision is to be paid and the replies are too short for it alone.
std::string break_even_words(const DerivedRow& row, const Derivation& derivation) {
  if (row.by_size || !derivation.decision_ms || row.gain.mean <= 0) return "";
  if (!row.break_even_output || *derivation.decision_ms <= 0) return "";
  const double tokens = row.size.output_tokens - 1;
  return "; a decision of " + time_words(*derivation.decision_ms) + " breaks even at " +
         fixed(*row.break_even_output, 1) + " tokens, and a reply has " + fixed(tokens, 0);
}

std::string memory_words(const DerivedRow& row, const DeriveOptions& options) {
  const std::string copy = "a second copy of the model there takes " + gb_words(row.other_bytes);
  switch (row.verdict) {
    case RowVerdict::kMemoryTooMuch:
      return "; " + copy + ", and the budget of " + gb_words(options.memory_budget_bytes) +
             " has not enough left";
    case RowVerdict::kMemoryTooDear:
      return "; " + copy + ", so it brings " +
             fixed(gain_per_gb_ms(row.gain.low, row.other_bytes), 1) + " ms a GB, less than the " +
             fixed(options.ms_per_gb.value_or(0), 1) + " asked: not worth it";
    case RowVerdict::kMemoryUnpriced:
      return "; " + copy + " (" + fixed(gain_per_gb_ms(row.gain.low, row.other_bytes), 1) +
             " ms a GB), and nobody said that it is worth it (--memory-budget, --ms-per-gb)";
    default:
      return "";
  }
}

std::string moved_words(const DerivedRow& row, const Derivation& derivation) {
  const std::string paid = row.by_size
                               ? "; the size tells the class, so nothing is asked"
                               : "; the questions cost " + time_words(derivation.asking_ms) +
                                     " a request on average, which is paid";
  return "moved: " + gain_words(row, derivation) + paid;
}

std::string stays_words(const DerivedRow& row, const Derivation& derivation,
                        const DeriveOptions& options) {
  const std::string gain = gain_words(row, derivation);
  switch (row.verdict) {
    case RowVerdict::kFastest:
      return "stays: " + derivation.default_device + " is fastest; " + gain;
    case RowVerdict::kTooLittle:
      return "stays: " + gain + "; a move needs a lower end above " +
             time_words(std::max(kMoveGainMsMin, kMoveGainShareMin * row.default_ms));
    case RowVerdict::kDecisionUnknown:
      return "stays: " + gain +
             "; but its requests are told apart by a question whose time nobody said "
             "(--decision-ms, or a log)";
    case RowVerdict::kAskingCosts:
      return "stays: " + gain + "; but all rows that need the question bring " +
             time_words(derivation.asked_gain.mean + derivation.asking_ms) +
             " a request on average and asking costs " + time_words(derivation.asking_ms) +
             break_even_words(row, derivation);
    default:
      return "stays: " + gain + break_even_words(row, derivation) + memory_words(row, options);
  }
}

}  // namespace

std::string time_words(double ms) {
  if (std::abs(ms) < 1000) return fixed(ms, 1) + " ms";
  return fixed(ms / 1000, std::abs(ms) < 10'000 ? 3 : 1) + " s";
}

std::string row_words(const DerivedRow& row, const Derivation& derivation,
                      const DeriveOptions& options) {
  switch (row.verdict) {
    case RowVerdict::kMoved:
      return moved_words(row, derivation);
    case RowVerdict::kNotMeasured:
      return "stays: no prompt of the class was measured on every device";
    case RowVerdict::kNoTraffic:
      return "stays: no request of the traffic is of the class";
    case RowVerdict::kOnlyDevice:
      return "stays: no other device was measured";
    default:
      return stays_words(row, derivation, options);
  }
}

std::string derivation_words(const Derivation& derivation) {
  const RouteTraffic& traffic = derivation.traffic;
  std::string out = "traffic:";
  for (const ClassTraffic& one : traffic.classes) {
    out += " " + one.class_name + " " + base::percent(one.share);
  }
  out += traffic.decisions > 0 ? " (of " + std::to_string(traffic.decisions) + " decisions)\n"
                               : " (of the measured cases; no log)\n";
  const SpeedModel& model = derivation.model;
  if (model.usable) {
    out += "speeds: predicted times of held-out requests are off by " +
           base::percent(model.held_out_error) + " (median of " + std::to_string(model.held_out) +
           ")\n";
  } else if (model.held_out > 0) {
    out += "speeds: held-out requests are off by " + base::percent(model.held_out_error) +
           ", more than 10.0%: only measured times are used\n";
  } else {
    out += "speeds: nothing to hold them against: only measured times are used\n";
  }
  if (derivation.decision_ms) {
    out += "asking: a decision takes " + time_words(*derivation.decision_ms) + ", " +
           time_words(derivation.asking_ms) + " a request on average with " +
           fixed(derivation.turns, 1) + " turns a conversation\n";
  } else {
    out += "asking: the time of a decision is not known\n";
  }
  if (!derivation.misroutes_known) {
    out += "misroutes: not known (--confusion), so the classifier is taken never to err\n";
  }
  return out;
}

}  // namespace layard::gateway
