#include "gateway/decide.h"

#include <algorithm>
#include <utility>

#include "gateway/device_order.h"

namespace layard::gateway {
namespace {

using Answer = Result<RequestClass>;

Decided from_class(const RequestClass& found) {
  Decided out;
  out.decision.class_name = found.name;
  out.decision.confidence = found.confidence;
  for (const LabelProbability& label : found.probabilities) {
    out.decision.probabilities.emplace_back(label.key, label.probability);
  }
  out.decision.source = found.by_size ? DecisionSource::kGate : DecisionSource::kModel;
  out.tokens = found.by_size ? -1 : found.state_tokens;
  out.is_new = true;
  return out;
}

Decided from_sticky(const StickyDecision& kept) {
  Decided out;
  out.decision.class_name = kept.class_name;
  out.decision.confidence = kept.confidence;
  out.decision.probabilities = kept.probabilities;
  out.decision.source = DecisionSource::kSticky;
  return out;
}

Decided undecided(DecisionSource source) {
  Decided out;
  out.decision.source = source;
  return out;
}

// A class that a reload took out of the policy says nothing any more.
bool is_class_of(const RoutePolicy& policy, const std::string& name) {
  const auto classes = policy.classes();
  return std::ranges::find(classes, name) != classes.end();
}

// What is left of decide.timeout_ms; 0: there is no limit.
class TimeLimit {
 public:
  TimeLimit(const base::Clock& clock, std::int64_t limit_ms)
      : clock_(clock), limit_ms_(limit_ms), begun_ns_(clock.now_ns()) {}

  bool has_passed() const { return limit_ms_ > 0 && left() <= 0; }
  /// REQUIRES: it has not passed.
  std::int64_t left_ms() const { return limit_ms_ > 0 ? std::max<std::int64_t>(left(), 1) : 0; }

 private:
  std::int64_t left() const { return limit_ms_ - (clock_.now_ns() - begun_ns_) / 1'000'000; }

  const base::Clock& clock_;
  const std::int64_t limit_ms_;
  const std::int64_t begun_ns_;
};

Decided failed(std::string error) {
  Decided out = undecided(DecisionSource::kError);
  out.is_new = true;
  out.error = std::move(error);
  return out;
}

std::string too_late(const DecideInput& input) {
  const std::int64_t limit_ms = input.setup->policy.decide.timeout_ms;
  return limit_ms > 0 ? "no answer within " + std::to_string(limit_ms) + " ms" : "no answer";
}

http::Task<Decided> ask_model(http::Loop& loop, GatewayCore& core, const DecideInput& input,
                              const TimeLimit& limit, std::stop_token cancelled) {
  const auto arrival = std::make_shared<Arrival<Answer>>(loop);
  // A reload may name another checkpoint, unless the operator did.
  const std::string checkpoint =
      core.options.model.empty() ? input.setup->policy.checkpoint : std::string();
  ClassQuery query{input.chat.text, checkpoint, input.caller, {}};
  const std::int64_t limit_ms = limit.left_ms();
  if (limit_ms > 0) query.deadline_ms = static_cast<double>(limit_ms);
  const std::int64_t begun_ns = core.clock.now_ns();
  // A question that has begun is answered whoever has left: the setup it belongs to stays till
  // then.
  const auto ticket =
      core.classes->ask(input.setup->question, std::move(query),
                        [arrival, promise = arrival->promise(), setup = input.setup](
                            Answer answer) { arrival->bring(std::move(answer)); });
  const std::stop_callback leave(cancelled, [&arrival] { arrival->cancel(); });
  std::optional<Answer> answer = co_await arrival->wait(limit_ms);
  const double took_s = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e9;
  if (!answer.has_value()) core.classes->cancel(ticket);
  const bool is_left = cancelled.stop_requested();
  const bool is_answer = answer.has_value() && answer->ok();
  core.stats.update([&](StatsSnapshot& now) {
    now.decision.add(took_s);
    if (!is_answer && !is_left) ++now.decision_failures;
  });
  if (is_answer) co_return from_class(**answer);
  if (is_left) co_return undecided(DecisionSource::kDefault);
  co_return failed(answer.has_value() ? answer->error().message : too_late(input));
}

// Waits for the request of the same conversation that decides.
http::Task<std::optional<Decided>> wait_along(
    GatewayCore& core, const StickyKey& key, std::uint64_t waiter, std::int64_t limit_ms,
    std::shared_ptr<Arrival<std::optional<StickyDecision>>> arrival, std::stop_token cancelled) {
  const std::stop_callback leave(cancelled, [&arrival] { arrival->cancel(); });
  const auto brought = co_await arrival->wait(limit_ms);
  if (!brought.has_value()) core.sticky.cancel(key, waiter);
  std::optional<Decided> out;
  if (brought.has_value() && brought->has_value()) out = from_sticky(**brought);
  co_return out;
}

StickyDecision kept(const Decision& decision) {
  return {decision.class_name, decision.confidence, decision.probabilities, decision.source};
}

// Without the conversation's help.
http::Task<Decided> decide_alone(http::Loop& loop, GatewayCore& core, const DecideInput& input,
                                 const TimeLimit& limit, std::stop_token cancelled) {
  const RoutePolicy& policy = input.setup->policy;
  const auto by_size = input.setup->question.by_size(input.chat.text_chars, input.chat.text_bytes);
  if (by_size.has_value()) co_return from_class(*by_size);
  if (policy.decide.when == DecideWhen::kUseful &&
      answer_changes_nothing(policy, input.candidates)) {
    co_return undecided(DecisionSource::kSkipped);
  }
  if (cancelled.stop_requested()) co_return undecided(DecisionSource::kDefault);
  if (limit.has_passed()) {
    core.stats.update([](StatsSnapshot& now) { ++now.decision_failures; });
    co_return failed(too_late(input));
  }
  Decided out = co_await ask_model(loop, core, input, limit, cancelled);
  co_return out;
}

http::Task<Decided> decide_conversation(http::Loop& loop, GatewayCore& core,
                                        const DecideInput& input, std::stop_token cancelled) {
  const RoutePolicy& policy = input.setup->policy;
  const TimeLimit limit(core.clock, policy.decide.timeout_ms);
  const ConversationKey key =
      core.hasher.key(input.caller, input.chat, input.fields, policy.sticky.headers);
  const auto arrival = std::make_shared<Arrival<std::optional<StickyDecision>>>(loop);
  const auto begin = [&core, &key, arrival] {
    return core.sticky.begin(
        key.bytes, core.clock.now_ns(), [arrival](const StickyDecision* found) {
          arrival->bring(found == nullptr ? std::nullopt : std::optional(*found));
        });
  };
  StickyBegin begun = begin();
  if (begun.kind == StickyBegin::Kind::kHit && !is_class_of(policy, begun.decision->class_name)) {
    core.sticky.forget(key.bytes);
    begun = begin();
  }
  std::optional<Decided> out;
  if (begun.kind == StickyBegin::Kind::kHit) {
    out = from_sticky(*begun.decision);
  } else if (begun.kind == StickyBegin::Kind::kWait) {
    out = co_await wait_along(core, key.bytes, begun.waiter, limit.left_ms(), arrival, cancelled);
  }
  if (out.has_value() && !is_class_of(policy, out->decision.class_name)) out.reset();
  if (!out.has_value()) {
    out = co_await decide_alone(loop, core, input, limit, cancelled);
    const bool decided = out->is_new && !out->decision.class_name.empty();
    if (decided) begun.turn.finish(kept(out->decision), core.clock.now_ns());
  }
  out->conversation = key;
  co_return *std::move(out);
}

}  // namespace

bool answer_changes_nothing(const RoutePolicy& policy, std::span<const std::size_t> candidates) {
  std::optional<std::size_t> only;
  const auto leads_elsewhere = [&](const std::string& class_name, double confidence) {
    const DeviceOrder order =
        order_devices(policy, candidates, std::nullopt, class_name, confidence);
    if (order.devices.empty()) return false;
    if (!only.has_value()) only = order.devices.front();
    return *only != order.devices.front();
  };
  for (const ClassOption& option : policy.options) {
    if (leads_elsewhere(option.name, 1)) return false;
    if (policy.min_confidence > 0 && leads_elsewhere(option.name, 0)) return false;
  }
  return true;
}

http::Task<Decided> decide(http::Loop& loop, GatewayCore& core, DecideInput input,
                           std::stop_token cancelled) {
  const std::int64_t begun_ns = core.clock.now_ns();
  Decided out = undecided(DecisionSource::kDefault);
  const bool asks = core.classes != nullptr && !input.setup->forced_device.has_value() &&
                    input.setup->policy.decide.when != DecideWhen::kShadow &&
                    !input.chat.text.empty();
  if (asks) out = co_await decide_conversation(loop, core, input, cancelled);
  out.decision.decision_ms = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e6;
  co_return out;
}

http::Task<Decided> decide_in_shadow(http::Loop& loop, GatewayCore& core, DecideInput input,
                                     std::stop_token cancelled) {
  const std::int64_t begun_ns = core.clock.now_ns();
  Decided out = co_await decide_conversation(loop, core, input, cancelled);
  out.decision.decision_ms = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e6;
  co_return out;
}

}  // namespace layard::gateway
