/// The decision server: /v1/systemone and what belongs to it, over one decision service.
///
/// Invariants: no answer differs from Model::predict's; a deterministic failure is a 4xx, since
/// clients repeat a 5xx; nothing a client wrote is logged; what waits is bounded (serve_options.h).
/// Source: as api.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "layard/error.h"
#include "layard/model.h"
#include "server/serve_options.h"

namespace layard::server {

/// Thread-safety: all calls may come from any thread.
class DecisionServer {
 public:
  /// Loads the checkpoints, then listens. `log` takes lines of `options.log_format` from any
  /// thread, at `log_level` (debug, info, warning, error, off) and above. Errors: those of
  /// DecisionService::open and http::Server::start.
  static Result<std::unique_ptr<DecisionServer>> start(const ServeOptions& options,
                                                       std::string_view log_level, LogFunction log);

  DecisionServer(const DecisionServer&) = delete;
  DecisionServer& operator=(const DecisionServer&) = delete;
  ~DecisionServer();

  /// `http://127.0.0.1:8642`.
  std::string url() const;
  unsigned port() const;

  /// The first call stops listening and lets what was begun finish, for ServerOptions::drain_ms;
  /// the second cuts it. Returns at once. Not for use in a signal handler.
  void stop();
  /// Waits for the end of a stop.
  void wait();

 private:
  struct Impl;
  explicit DecisionServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace layard::server
