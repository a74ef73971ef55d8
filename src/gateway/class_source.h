/// Who says what kind of request a text is, for many callers at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/request_class.h"
#include "layard/error.h"
#include "layard/service.h"

namespace layard::gateway {

/// One text to ask about.
struct ClassQuery {
  std::string text;
  /// The checkpoint to ask; empty: the source's own.
  std::string checkpoint;
  /// Callers with different names take turns.
  std::string caller;
  /// A question that has not begun by then fails with kOverloaded; nothing: no bound.
  std::optional<double> deadline_ms;
};

/// The seam between the gateway and the model, so that it can be tested without one.
/// Thread-safety: all calls may come from any thread.
class ClassSource {
 public:
  using Ticket = std::uint64_t;
  using Done = std::function<void(Result<RequestClass>)>;

  virtual ~ClassSource() = default;
  /// Calls `done` once, on any thread, possibly before it returns; `done` must return soon.
  /// REQUIRES: `question` outlives the call of `done`. Errors: those of DecisionService::submit.
  virtual Ticket ask(const RouteQuestion& question, ClassQuery query, Done done) = 0;
  /// Takes a question that waits out of the queue; its `done` gets kCancelled.
  virtual void cancel(Ticket ticket) = 0;
};

/// `service` must outlive it.
std::unique_ptr<ClassSource> class_source_of(DecisionService& service);

}  // namespace layard::gateway
