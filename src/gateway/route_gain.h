/// What moving a class of requests to another device gains, and what it costs: the arithmetic that
/// says whether a row of a policy may move.
///
/// Times are milliseconds of one request, rates tokens a second, a gain positive where the other
/// device is faster. The model of a request's time: T = a + (n_p - h) / P + (n_o - 1) / D + q with
/// a fixed part a, n_p prompt tokens of which h are cached, n_o output tokens, a queue wait q.
/// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace layard::gateway {

/// A row moves only where the lower bound of its gain exceeds this and kMoveGainShareMin.
inline constexpr double kMoveGainMsMin = 30;
/// Share of the request's time on the default device.
inline constexpr double kMoveGainShareMin = 0.02;

/// One device's speed for one class.
struct DeviceSpeed {
  double fixed_ms = 0;     ///< a
  double prefill_tps = 0;  ///< P, > 0
  double decode_tps = 0;   ///< D, > 0
  double queue_ms = 0;     ///< q
};

/// The size of a request.
struct RequestSize {
  double prompt_tokens = 0;
  double cached_tokens = 0;
  double output_tokens = 1;
};

/// T. The first output token comes with the prompt, so the others are one fewer.
double request_ms(const DeviceSpeed& speed, const RequestSize& size);

/// Time to decode `tokens` at one rate less that at another: what a faster decoder saves.
double decode_gain_ms(double tokens, double from_tps, double to_tps);
/// The same for `tokens` of a prompt; `fixed_gain_ms` is added: a of the first less a of the
/// second.
double prefill_gain_ms(double tokens, double from_tps, double to_tps, double fixed_gain_ms);

/// What a row of class k gets of one class c.
struct RowShare {
  double traffic = 0;  ///< pi_c: share of class c in all requests, 0 to 1
  double taken = 0;    ///< M(k|c): share of class c that leaves the classifier as k, 0 to 1
  double gain_ms = 0;  ///< T_c,d0 - T_c,d: what one request of class c gains on the row's device
};

/// g(k, d): gain of the row per request of all traffic, requests of other classes that the
/// classifier takes for k included: those may lose.
double row_gain_ms(std::span<const RowShare> shares);
/// The same per request that the row gets; 0 where it gets none.
double row_gain_per_request_ms(std::span<const RowShare> shares);

/// C: what asking costs per request, when `asked` of all traffic is asked about (gated requests are
/// not), a decision takes `decision_ms`, and a conversation has `turns` of them, of which the first
/// is asked about. REQUIRES: turns >= 1.
double decision_cost_ms(double asked, double decision_ms, double turns);

/// Whether a row moves: `lower_ms`, the lower bound of its gain per request, exceeds both minima.
/// `default_ms` is T_k,d0.
bool row_moves(double lower_ms, double default_ms);

/// What a policy gains per request: its moved rows' row_gain_ms less the decisions'. Asking pays
/// where this is positive; else only rows of the size gate, which ask nothing, are worth keeping.
double policy_gain_ms(std::span<const double> moved_rows_ms, double cost_ms);

/// Output tokens n* from which a faster decoder pays for the decision; nothing where it is not
/// faster. REQUIRES: turns >= 1.
std::optional<double> break_even_output_tokens(double decision_ms, double turns, double from_tps,
                                               double to_tps);
/// Prompt tokens from which a faster prefill pays for the decision and for `fixed_loss_ms`, a of
/// the second device less a of the first; nothing where it is not faster; 0 where any prompt pays.
std::optional<double> break_even_prompt_tokens(double decision_ms, double turns,
                                               double fixed_loss_ms, double from_tps,
                                               double to_tps);

/// What another resident copy of a model takes, and what it may cost.
struct MemoryPrice {
  double bytes = 0;
  double budget_bytes = 0;
  double ms_per_gb_min = 0;  ///< gain per request that a GB (10^9 bytes) must bring
};

/// Gain per request and GB; infinite where the row takes no memory.
double gain_per_gb_ms(double gain_ms, double bytes);
/// Whether the copy fits the budget and brings what it must.
bool memory_pays(double gain_ms, const MemoryPrice& price);

/// Whether a conversation should change device at this turn: the gain of the turns that are still
/// expected exceeds the prefill of its history there, at `prefill_tps`, and the decision.
bool move_pays_midway(double turns_left, double gain_per_turn_ms, double history_tokens,
                      double prefill_tps, double decision_ms);

}  // namespace layard::gateway
