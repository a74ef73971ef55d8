/// From a language's choice to the checkpoint it means, without loading anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "layard/router.h"

namespace layard::runtime {

/// A checkpoint that the router can choose.
struct RouteTarget {
  std::string name;   // what it is opened by
  std::string label;  // `english`, `multilingual`, `typed-decisions`, else the name
  std::optional<std::string> repo;
  std::optional<std::string> revision;
};

/// The checkpoints of `auto` and what answers undecided texts. `fallback` is a place in `targets`.
struct RouteTargets {
  std::vector<RouteTarget> targets;  // auto_checkpoints(), then the default when it is neither
  std::size_t english = 0;
  std::size_t multilingual = 1;
  std::size_t fallback = 0;
};

/// Looks only at names. Errors: as checkpoint::resolve_model.
Result<RouteTarget> find_target(const Environment& environment, std::string_view model);

/// Errors: as LayaRouter::open.
Result<RouteTargets> find_targets(const Environment& environment, std::string_view default_model);

/// A choice: where it leads, and what a record of it says.
struct RouteChoice {
  std::size_t target = 0;
  Route route;
};

/// Errors: as LayaRouter::route.
Result<RouteChoice> choose_route(const RouteTargets& targets, const State& state,
                                 const QuestionSet& questions);

/// The start of a router's info block: {"model": "auto", "router": "language", "detector",
/// "default_model"}.
base::JsonValue router_json(const RouteTargets& targets);

}  // namespace layard::runtime
