/// The gateway: an OpenAI-compatible server in front of devices, which sends each request where its
/// kind is served best.
///
/// Invariants: a body goes on byte for byte, but for the model's name; nothing a client wrote is
/// logged unless the operator asks for it; a client's key never reaches a device; a decision that
/// fails sends the request to the default device; what waits is bounded.
/// Source: 1bit-MONSTER/engine `app/serve.cpp` (routing, stickiness, X-1bit-Route). Departs: the
/// first user message is classified; a scorer that fails is no error; bodies are not written anew;
/// a stream keeps its status.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/gateway_options.h"
#include "layard/error.h"
#include "layard/model.h"

namespace layard::gateway {

/// Thread-safety: all calls may come from any thread.
class GatewayServer {
 public:
  /// Reads the policy, loads the model (with `laya`), starts the devices that are child processes,
  /// then listens. `log` takes lines of `options.log_format` from any thread, at `log_level`
  /// (debug, info, warning, error, off) and above. Errors: those of make_setup,
  /// DecisionService::open, DecisionLog::open, Supervisor::start and http::Server::start.
  static Result<std::unique_ptr<GatewayServer>> start(const GatewayOptions& options,
                                                      std::string_view log_level, LogFunction log);

  GatewayServer(const GatewayServer&) = delete;
  GatewayServer& operator=(const GatewayServer&) = delete;
  ~GatewayServer();

  /// `http://127.0.0.1:8643`.
  std::string url() const;
  unsigned port() const;

  /// Reads the policy anew and, if all of it is right, serves new requests by it. Returns what was
  /// wrong; the old one stays then. Blocks while files are read.
  std::string reload();

  /// The first call stops listening and lets what was begun finish, for ServerOptions::drain_ms;
  /// the second cuts it. Returns at once. Not for use in a signal handler.
  void stop();
  /// Waits for the end of a stop.
  void wait();

 private:
  struct Impl;
  explicit GatewayServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace layard::gateway
