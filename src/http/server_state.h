/// What all connections of a server share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "http/byte_budget.h"
#include "http/server.h"

namespace layard::http {

using LiveCount = std::atomic<std::uint64_t>;

/// Counters while they count. Thread-safety: any number of callers.
struct LiveCounters {
  LiveCount connections_accepted{0};
  LiveCount accept_errors{0};
  LiveCount connections_idle_closed{0};
  LiveCount requests{0};
  LiveCount requests_open{0};
  LiveCount refused_by_handler{0};
  std::array<LiveCount, kRefusalReasons> refused{};
  std::array<LiveCount, 6> responses{};
  LiveCount clients_gone{0};
  LiveCount responses_cut{0};
  LiveCount response_fields_dropped{0};
  LiveCount bytes_received{0};
  LiveCount bytes_sent{0};

  void count_refusal(RefusalReason reason) { ++refused[static_cast<std::size_t>(reason)]; }
  void count_response(int status) { ++responses[static_cast<std::size_t>(status) / 100 % 6]; }
};

struct ServerState {
  ServerState(const ServerOptions& server_options, Handler& server_handler)
      : options(server_options),
        handler(server_handler),
        budget(std::make_shared<ByteBudget>(server_options.body_memory_bytes_max)) {}

  const ServerOptions options;
  Handler& handler;
  const std::shared_ptr<ByteBudget> budget;  // requests may outlive the server
  std::atomic<bool> draining{false};
  std::atomic<std::size_t> connections{0};  // being served
  std::atomic<std::size_t> refusing{0};     // over connections_max, on their way out
  LiveCounters counters;

  Counters snapshot() const;
};

}  // namespace layard::http
