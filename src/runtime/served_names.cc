#include "runtime/served_names.h"

#include <algorithm>
#include <utility>

#include "checkpoint/registry.h"
#include "checkpoint/resolve.h"
#include "runtime/resolve.h"

namespace layard::runtime {
namespace {

// The repository that upstream's clients send when they mean "whatever you serve".
constexpr std::string_view kAnyLaya = "convaiinnovations/laya";

}  // namespace

std::size_t ServedNames::add(RouteTarget target) {
  const auto known = std::ranges::find(targets_, target.name, &RouteTarget::name);
  if (known != targets_.end()) return static_cast<std::size_t>(known - targets_.begin());
  targets_.push_back(std::move(target));
  return targets_.size() - 1;
}

Result<ServedNames> ServedNames::open(const ServiceOptions& options) {
  const Environment& environment = options.checkpoints.environment;
  ServedNames names;
  LAYARD_ASSIGN(const std::vector<std::string> known,
                checkpoint::model_names(resolve_options(environment)));
  for (const std::string& name : known) {
    // A starter that is not installed is missed only by those who ask for it.
    auto target = find_target(environment, name);
    if (target.ok()) names.add(*std::move(target));
  }
  const bool is_auto = is_auto_model(options.model);
  auto by_language = find_targets(environment, options.default_model);
  if (by_language.ok()) {
    for (const RouteTarget& target : by_language->targets) {
      names.language_index_.push_back(names.add(target));
    }
    names.by_language_ = *std::move(by_language);
  } else if (is_auto) {
    return by_language.error();
  }
  const auto preload = [&](std::size_t index) {
    if (!std::ranges::count(names.preloaded_, index)) names.preloaded_.push_back(index);
  };
  if (is_auto) {
    for (const std::size_t index : names.language_index_) preload(index);
  } else {
    LAYARD_ASSIGN(RouteTarget target, find_target(environment, options.model));
    names.default_ = names.add(std::move(target));
    preload(*names.default_);
  }
  for (const std::string& name : options.preload) {
    if (is_auto_model(name) && names.by_language_.has_value()) {
      for (const std::size_t index : names.language_index_) preload(index);
      continue;
    }
    LAYARD_ASSIGN(RouteTarget target, find_target(environment, name));
    preload(names.add(std::move(target)));
  }
  return names;
}

std::optional<std::size_t> ServedNames::find(std::string_view name) const {
  if (name == kAnyLaya) return std::nullopt;
  const checkpoint::ModelSpec* spec = checkpoint::find_spec(name);
  const std::string wanted = spec != nullptr ? spec->name : checkpoint::normalized_name(name);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].name == wanted || targets_[i].name == name) return i;
  }
  return std::nullopt;
}

Result<ServedRoute> ServedNames::route(const Request& request) const {
  const std::string name = request.model.value_or("");
  const bool asks_auto = is_auto_model(name);
  const auto named = asks_auto ? std::nullopt : find(name);
  if (asks_auto && !by_language_.has_value()) {
    return Error{
        ErrorCode::kBackendUnavailable,
        "model 'auto' is not available on this server; its checkpoints cannot be resolved"};
  }
  ServedRoute out;
  if (asks_auto || (!named.has_value() && !default_.has_value())) {
    LAYARD_ASSIGN(RouteChoice choice,
                  choose_route(*by_language_, request.state, request.questions));
    out.index = language_index_[choice.target];
    out.route = std::move(choice.route);
    return out;
  }
  out.index = named.has_value() ? *named : *default_;
  const RouteTarget& target = targets_[out.index];
  out.route.checkpoint = target.name;
  out.route.model = target.label;
  out.route.repo = target.repo;
  out.route.revision = target.revision;
  out.route.reason = named.has_value() ? "explicit model='" + target.label + "'"
                                       : "server default model (--model " + target.name + ")";
  return out;
}

}  // namespace layard::runtime
