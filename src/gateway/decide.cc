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

http::Task<Decided> ask_model(http::Loop& loop, GatewayCore& core, const DecideInput& input,
                              std::stop_token cancelled) {
  const auto arrival = std::make_shared<Arrival<Answer>>(loop);
  // A reload may name another checkpoint, unless the operator did.
  const std::string checkpoint =
      core.options.model.empty() ? input.setup.policy.checkpoint : std::string();
  ClassQuery query{input.chat.text, checkpoint, input.caller, {}};
  const std::int64_t limit_ms = input.setup.policy.decide.timeout_ms;
  if (limit_ms > 0) query.deadline_ms = static_cast<double>(limit_ms);
  const std::int64_t begun_ns = core.clock.now_ns();
  const auto ticket = core.classes->ask(input.setup.question, std::move(query),
                                        [arrival](Answer answer) { arrival->bring(answer); });
  const std::stop_callback leave(cancelled, [&arrival] { arrival->cancel(); });
  std::optional<Answer> answer = co_await arrival->wait(limit_ms);
  const double took_s = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e9;
  if (!answer.has_value()) core.classes->cancel(ticket);
  const bool failed = !answer.has_value() || !answer->ok();
  core.stats.update([&](StatsSnapshot& now) {
    now.decision.add(took_s);
    if (failed && !cancelled.stop_requested()) ++now.decision_failures;
  });
  if (!failed) co_return from_class(**answer);
  Decided out = undecided(DecisionSource::kError);
  out.is_new = true;
  out.error = answer.has_value() ? answer->error().message
                                 : "no answer within " + std::to_string(limit_ms) + " ms";
  co_return out;
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

http::Task<Decided> decide_conversation(http::Loop& loop, GatewayCore& core,
                                        const DecideInput& input, std::stop_token cancelled) {
  const RoutePolicy& policy = input.setup.policy;
  const ConversationKey key =
      core.hasher.key(input.caller, input.chat, input.fields, policy.sticky.headers);
  const auto arrival = std::make_shared<Arrival<std::optional<StickyDecision>>>(loop);
  StickyBegin begun =
      core.sticky.begin(key.bytes, core.clock.now_ns(), [arrival](const StickyDecision* found) {
        arrival->bring(found == nullptr ? std::nullopt : std::optional(*found));
      });
  std::optional<Decided> out;
  if (begun.kind == StickyBegin::Kind::kHit && is_class_of(policy, begun.decision->class_name)) {
    out = from_sticky(*begun.decision);
  } else if (begun.kind == StickyBegin::Kind::kWait) {
    out = co_await wait_along(core, key.bytes, begun.waiter, policy.decide.timeout_ms, arrival,
                              cancelled);
  }
  if (!out.has_value()) {
    const auto by_size = input.setup.question.by_size(input.chat.text_chars, input.chat.text_bytes);
    if (by_size.has_value()) {
      out = from_class(*by_size);
    } else if (policy.decide.when == DecideWhen::kUseful &&
               answer_changes_nothing(policy, input.candidates)) {
      out = undecided(DecisionSource::kSkipped);
    } else {
      out = co_await ask_model(loop, core, input, cancelled);
    }
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
  const bool asks = core.classes != nullptr && !input.setup.forced_device.has_value() &&
                    input.setup.policy.decide.when != DecideWhen::kShadow &&
                    !input.chat.text.empty();
  if (asks) out = co_await decide_conversation(loop, core, input, cancelled);
  out.decision.decision_ms = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e6;
  co_return out;
}

http::Task<Decided> decide_in_shadow(http::Loop& loop, GatewayCore& core, DecideInput input) {
  const std::int64_t begun_ns = core.clock.now_ns();
  Decided out = co_await decide_conversation(loop, core, input, {});
  out.decision.decision_ms = static_cast<double>(core.clock.now_ns() - begun_ns) / 1e6;
  co_return out;
}

}  // namespace layard::gateway
