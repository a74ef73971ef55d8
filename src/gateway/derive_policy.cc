#include "gateway/derive_policy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "gateway/derive_words.h"

namespace layard::gateway {
namespace {

using Means = TimeTable::Means;

// What a row of class k gets of each class c: pi_c M(k|c).
using Weights = std::vector<double>;

class Deriver {
 public:
  Deriver(const MeasuredEvidence& evidence, const RoutePolicy& base, const Confusion& confusion,
          const DeriveOptions& options, Derivation& out)
      : evidence_(evidence),
        base_(base),
        confusion_(confusion),
        options_(options),
        out_(out),
        table_(TimeTable::make(evidence, out.model, out.traffic, out.default_device)),
        default_index_(index_of(out.default_device)) {}

  void run() {
    for (const std::string& name : base_.classes()) out_.rows.push_back(judge(name));
    place_copies();
    pay_for_asking();
    for (DerivedRow& row : out_.rows) {
      row.device = row.verdict == RowVerdict::kMoved ? row.other : out_.default_device;
    }
  }

 private:
  std::size_t index_of(const std::string& device) const {
    const auto found = std::ranges::find(evidence_.devices, device, &MeasuredDevice::name);
    return static_cast<std::size_t>(found - evidence_.devices.begin());
  }

  Weights weights_of(const std::string& class_name) const {
    Weights out;
    for (std::size_t c = 0; c < out_.traffic.classes.size(); ++c) {
      const ClassTraffic& one = out_.traffic.classes[c];
      const bool measured = table_.prompts(c) > 0;
      out.push_back(measured ? one.share * confusion_.taken(one.class_name, class_name) : 0);
    }
    return out;
  }

  // RowShare of every class for one sample of times.
  std::vector<RowShare> shares_of(const Weights& weights, std::size_t device,
                                  const Means& means) const {
    std::vector<RowShare> out;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      out.push_back({1, weights[c], means(c, default_index_) - means(c, device)});
    }
    return out;
  }

  double traffic_gain(const Weights& weights, std::size_t device, const Means& means) const {
    return row_gain_ms(shares_of(weights, device, means));
  }

  DerivedRow judge(const std::string& class_name) const {
    DerivedRow row;
    row.class_name = class_name;
    row.by_size = base_.size_gate && base_.size_gate->class_name == class_name;
    const auto found =
        std::ranges::find(out_.traffic.classes, class_name, &ClassTraffic::class_name);
    const auto c = static_cast<std::size_t>(found - out_.traffic.classes.begin());
    if (found == out_.traffic.classes.end() || table_.prompts(c) == 0) return row;
    row.prompts = table_.prompts(c);
    row.default_ms = table_.means()(c, default_index_);
    const Weights weights = weights_of(class_name);
    if (std::ranges::all_of(weights, [](double weight) { return weight <= 0; })) {
      row.verdict = RowVerdict::kNoTraffic;
      return row;
    }
    row.verdict = RowVerdict::kOnlyDevice;
    row.size = size_of(*found);
    for (std::size_t d = 0; d < evidence_.devices.size(); ++d) {
      if (d != default_index_) weigh(weights, d, row);
    }
    if (!row.other.empty()) add_speeds(row);
    return row;
  }

  // Takes device `d` for the row where it is better than what the row has.
  void weigh(const Weights& weights, std::size_t d, DerivedRow& row) const {
    DerivedRow now = row;
    now.other = evidence_.devices[d].name;
    now.other_bytes = evidence_.devices[d].resident_bytes;
    now.gain = table_.interval(
        [&](const Means& means) { return row_gain_per_request_ms(shares_of(weights, d, means)); });
    now.traffic_gain =
        table_.interval([&](const Means& means) { return traffic_gain(weights, d, means); });
    now.verdict = verdict_of(now);
    const bool first = row.other.empty();
    const bool moves = now.verdict == RowVerdict::kMoved;
    const bool moved = row.verdict == RowVerdict::kMoved;
    if (first || (moves && !moved) || (moves == moved && now.gain.low > row.gain.low)) row = now;
  }

  // By the row's own gain and its memory's price.
  RowVerdict verdict_of(const DerivedRow& row) const {
    if (row.gain.mean <= 0) return RowVerdict::kFastest;
    if (!row_moves(row.gain.low, row.default_ms)) return RowVerdict::kTooLittle;
    if (row.other_bytes > 0) {
      if (!options_.ms_per_gb) return RowVerdict::kMemoryUnpriced;
      if (row.other_bytes > options_.memory_budget_bytes) return RowVerdict::kMemoryTooMuch;
      const MemoryPrice price{row.other_bytes, options_.memory_budget_bytes, *options_.ms_per_gb};
      if (!memory_pays(row.gain.low, price)) return RowVerdict::kMemoryTooDear;
    }
    if (!row.by_size && !out_.decision_ms) return RowVerdict::kDecisionUnknown;
    return RowVerdict::kMoved;
  }

  RequestSize size_of(const ClassTraffic& traffic) const {
    if (traffic.size) return *traffic.size;
    std::vector<double> prompts;
    std::vector<double> outputs;
    for (const MeasuredRequest& request : evidence_.requests) {
      if (request.class_name != traffic.class_name || request.device != out_.default_device) {
        continue;
      }
      if (!counts(evidence_, request)) continue;
      prompts.push_back(static_cast<double>(request.prompt_tokens.value_or(0)));
      outputs.push_back(static_cast<double>(request.output_tokens));
    }
    return {median(prompts), 0, median(outputs)};
  }

  void add_speeds(DerivedRow& row) const {
    const DeviceFit* from = out_.model.find(out_.default_device);
    const DeviceFit* to = out_.model.find(row.other);
    if (from == nullptr || to == nullptr) return;
    if (!from->can_predict(row.class_name) || !to->can_predict(row.class_name)) return;
    row.default_speed = from->speed(row.class_name, row.size);
    row.other_speed = to->speed(row.class_name, row.size);
    const DeviceSpeed& a = row.default_speed;
    const DeviceSpeed& b = row.other_speed;
    const double decision_ms = row.by_size ? 0 : out_.decision_ms.value_or(0);
    row.break_even_output =
        break_even_output_tokens(decision_ms, out_.turns, a.decode_tps, b.decode_tps);
    row.break_even_prompt = break_even_prompt_tokens(
        decision_ms, out_.turns, b.fixed_ms - a.fixed_ms, a.prefill_tps, b.prefill_tps);
  }

  // Copies of several devices must fit together: those that bring most come first.
  void place_copies() {
    std::vector<DerivedRow*> rows;
    for (DerivedRow& row : out_.rows) {
      if (row.verdict == RowVerdict::kMoved && row.other_bytes > 0) rows.push_back(&row);
    }
    std::ranges::stable_sort(rows, [](const DerivedRow* a, const DerivedRow* b) {
      return a->traffic_gain.low > b->traffic_gain.low;
    });
    std::set<std::string> placed;
    double used = 0;
    for (DerivedRow* row : rows) {
      if (placed.contains(row->other)) continue;
      if (used + row->other_bytes > options_.memory_budget_bytes) {
        row->verdict = RowVerdict::kMemoryTooMuch;
        continue;
      }
      used += row->other_bytes;
      placed.insert(row->other);
    }
  }

  // What is asked about is all that the size does not tell.
  void pay_for_asking() {
    double asked = 0;
    for (const ClassTraffic& one : out_.traffic.classes) {
      const bool gated = base_.size_gate && base_.size_gate->class_name == one.class_name;
      if (!gated) asked += one.share;
    }
    if (!out_.decision_ms) return;
    out_.asking_ms = decision_cost_ms(asked, *out_.decision_ms, out_.turns);
    std::vector<std::pair<Weights, std::size_t>> moved;
    for (const DerivedRow& row : out_.rows) {
      if (row.verdict != RowVerdict::kMoved || row.by_size) continue;
      moved.emplace_back(weights_of(row.class_name), index_of(row.other));
    }
    if (moved.empty()) return;
    out_.asked_gain = table_.interval([&](const Means& means) {
      std::vector<double> gains;
      for (const auto& [weights, device] : moved) {
        gains.push_back(traffic_gain(weights, device, means));
      }
      return policy_gain_ms(gains, out_.asking_ms);
    });
    if (out_.asked_gain.low > 0) return;
    for (DerivedRow& row : out_.rows) {
      if (row.verdict == RowVerdict::kMoved && !row.by_size) {
        row.verdict = RowVerdict::kAskingCosts;
      }
    }
  }

  const MeasuredEvidence& evidence_;
  const RoutePolicy& base_;
  const Confusion& confusion_;
  const DeriveOptions& options_;
  Derivation& out_;
  TimeTable table_;
  std::size_t default_index_;
};

Result<std::string> default_of(const MeasuredEvidence& evidence, const RoutePolicy& base,
                               const DeriveOptions& options) {
  if (evidence.devices.empty() || evidence.cases.empty()) {
    return Error{ErrorCode::kInvalidRequest,
                 "evidence: there is no device or no case in " + options.evidence_file};
  }
  if (!options.default_device.empty()) {
    if (evidence.find_device(options.default_device) != nullptr) return options.default_device;
    std::vector<std::string> names;
    for (const MeasuredDevice& device : evidence.devices) names.push_back(device.name);
    return Error{ErrorCode::kInvalidRequest, "the default device '" + options.default_device +
                                                 "' was not measured; measured are " +
                                                 listed(names)};
  }
  const bool measured = evidence.find_device(base.default_device) != nullptr;
  return measured ? base.default_device : evidence.devices.front().name;
}

}  // namespace

Result<Derivation> derive_policy(const MeasuredEvidence& evidence, const RoutePolicy& base,
                                 const Confusion& confusion,
                                 const std::optional<LoggedDecisions>& log,
                                 const DeriveOptions& options) {
  Derivation out;
  LAYARD_ASSIGN(out.default_device, default_of(evidence, base, options));
  if (options.turns && !(*options.turns >= 1)) {
    return Error{ErrorCode::kInvalidRequest, "the turns of a conversation are 1 or more"};
  }
  out.model = fit_speeds(evidence);
  out.traffic = log ? logged_traffic(evidence, *log, confusion) : case_traffic(evidence);
  out.decision_ms = options.decision_ms ? options.decision_ms : out.traffic.decision_ms;
  out.turns = options.turns.value_or(out.traffic.turns);
  out.misroutes_known = !confusion.rows.empty();
  Deriver(evidence, base, confusion, options, out).run();
  for (DerivedRow& row : out.rows) row.why = row_words(row, out, options);
  return out;
}

}  // namespace layard::gateway
