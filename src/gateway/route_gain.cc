#include "gateway/route_gain.h"

#include <algorithm>
#include <numeric>

namespace layard::gateway {
namespace {

constexpr double kMsPerS = 1000;
constexpr double kGb = 1e9;

// Milliseconds per token.
double token_ms(double tps) { return kMsPerS / tps; }

}  // namespace

double request_ms(const DeviceSpeed& speed, const RequestSize& size) {
  const double read = std::max(size.prompt_tokens - size.cached_tokens, 0.0);
  const double written = std::max(size.output_tokens - 1, 0.0);
  return speed.fixed_ms + read * token_ms(speed.prefill_tps) +
         written * token_ms(speed.decode_tps) + speed.queue_ms;
}

double decode_gain_ms(double tokens, double from_tps, double to_tps) {
  return tokens * token_ms(from_tps) - tokens * token_ms(to_tps);
}

double prefill_gain_ms(double tokens, double from_tps, double to_tps, double fixed_gain_ms) {
  return fixed_gain_ms + decode_gain_ms(tokens, from_tps, to_tps);
}

double row_gain_ms(std::span<const RowShare> shares) {
  double gain = 0;
  for (const RowShare& share : shares) gain += share.traffic * share.taken * share.gain_ms;
  return gain;
}

double row_gain_per_request_ms(std::span<const RowShare> shares) {
  double weight = 0;
  for (const RowShare& share : shares) weight += share.traffic * share.taken;
  return weight > 0 ? row_gain_ms(shares) / weight : 0;
}

double decision_cost_ms(double asked, double decision_ms, double turns) {
  return asked * decision_ms / turns;
}

bool row_moves(double lower_ms, double default_ms) {
  return lower_ms > std::max(kMoveGainMsMin, kMoveGainShareMin * default_ms);
}

double policy_gain_ms(std::span<const double> moved_rows_ms, double cost_ms) {
  return std::accumulate(moved_rows_ms.begin(), moved_rows_ms.end(), 0.0) - cost_ms;
}

std::optional<double> break_even_output_tokens(double decision_ms, double turns, double from_tps,
                                               double to_tps) {
  const double saved = token_ms(from_tps) - token_ms(to_tps);
  if (!(saved > 0)) return std::nullopt;
  return decision_ms / (turns * saved);
}

std::optional<double> break_even_prompt_tokens(double decision_ms, double turns,
                                               double fixed_loss_ms, double from_tps,
                                               double to_tps) {
  const double saved = token_ms(from_tps) - token_ms(to_tps);
  if (!(saved > 0)) return std::nullopt;
  return std::max((decision_ms / turns + fixed_loss_ms) / saved, 0.0);
}

double gain_per_gb_ms(double gain_ms, double bytes) {
  return bytes > 0 ? gain_ms / (bytes / kGb) : std::numeric_limits<double>::infinity();
}

bool memory_pays(double gain_ms, const MemoryPrice& price) {
  if (price.bytes > price.budget_bytes) return false;
  return gain_per_gb_ms(gain_ms, price.bytes) >= price.ms_per_gb_min;
}

bool move_pays_midway(double turns_left, double gain_per_turn_ms, double history_tokens,
                      double prefill_tps, double decision_ms) {
  return turns_left * gain_per_turn_ms > history_tokens * token_ms(prefill_tps) + decision_ms;
}

}  // namespace layard::gateway
