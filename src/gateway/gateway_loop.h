/// One loop's part of a gateway: its connections to devices, and the requests that it is serving.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "gateway/gateway_core.h"
#include "gateway/gateway_setup.h"
#include "http/client.h"
#include "http/loop.h"
#include "http/task.h"

namespace layard::gateway {

/// Thread-safety: its loop's thread only.
class GatewayLoop {
 public:
  /// Both must outlive it.
  GatewayLoop(http::SocketLoop& loop, GatewayCore& core) : loop_(loop), core_(core) {}
  GatewayLoop(const GatewayLoop&) = delete;
  GatewayLoop& operator=(const GatewayLoop&) = delete;

  http::SocketLoop& loop() { return loop_; }
  GatewayCore& core() { return core_; }

  /// The client for a device. It is kept until the end, as links of a later policy may be equal.
  /// Errors: kIo when the link's authorities cannot be read; kOverloaded over kClientsMax;
  /// kCancelled after end().
  Result<http::Client*> client(const DeviceLink& link);

  /// Requests begin and end with these; the loop's end waits for them.
  void begin_call() { ++calls_; }
  void end_call();
  std::size_t calls() const { return calls_; }

  /// No request comes any more: closes every connection, waits for the requests that are left, then
  /// calls `done`, which may destroy this. Called once.
  void end(std::function<void()> done);
  /// Requested by end(): for what goes on after a client has its reply.
  std::stop_token ending() const { return ending_.get_token(); }

  static constexpr std::size_t kClientsMax = 1024;

 private:
  http::Detached close_clients();
  void end_when_idle();

  http::SocketLoop& loop_;
  GatewayCore& core_;
  std::map<std::string, std::unique_ptr<http::Client>> clients_;
  std::size_t calls_ = 0;
  std::stop_source ending_;
  bool clients_closed_ = false;
  bool end_posted_ = false;
  std::function<void()> done_;
};

}  // namespace layard::gateway
