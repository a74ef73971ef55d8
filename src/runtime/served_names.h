/// Which checkpoint a request's `model` means to a service, and what its `routing` says.
///
/// Thread-safety: constant after open().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layard/question.h"
#include "layard/router.h"
#include "layard/service.h"
#include "runtime/route.h"

namespace layard::runtime {

/// A destination: which checkpoint, and why.
struct ServedRoute {
  std::size_t index = 0;  // in names()
  Route route;
};

/// The checkpoints that a service's requests can reach: those its operator named, the registry's
/// and the models file's. A request never reaches another folder.
class ServedNames {
 public:
  /// Errors: those of resolving options.model, options.default_model and options.preload.
  static Result<ServedNames> open(const ServiceOptions& options);

  /// Names that checkpoints are opened by, each once; an index here is a checkpoint.
  const std::vector<RouteTarget>& targets() const { return targets_; }
  /// Checkpoints that open() is to load, each once.
  const std::vector<std::size_t>& preloaded() const { return preloaded_; }
  /// The one that answers requests that name none; nothing under `auto`.
  std::optional<std::size_t> default_index() const { return default_; }

  /// `request.model`: `auto` asks for the choice by language; a known name, alias or repository for
  /// that checkpoint; nothing, a blank, `convaiinnovations/laya` and any other word for the
  /// service's own model. Source: laya-apple 1.7.0 serve (the table, the reasons).
  /// Errors: as LayaRouter::route.
  Result<ServedRoute> route(const Request& request) const;

 private:
  std::size_t add(RouteTarget target);
  std::optional<std::size_t> find(std::string_view name) const;

  std::vector<RouteTarget> targets_;
  std::vector<std::size_t> preloaded_;
  std::optional<std::size_t> default_;
  std::optional<RouteTargets> by_language_;  // nothing when `auto` cannot be resolved here
  std::vector<std::size_t> language_index_;  // of by_language_'s targets
};

}  // namespace layard::runtime
