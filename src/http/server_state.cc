#include "http/server_state.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace layard::http {
namespace {

Status check_range(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return Error{ErrorCode::kInvalidRequest, std::string(name) + ": " + std::to_string(value) +
                                               " is not between " + std::to_string(low) + " and " +
                                               std::to_string(high)};
}

Status check_size(std::string_view name, std::size_t value, std::size_t low, std::size_t high) {
  return check_range(name, static_cast<std::int64_t>(std::min(value, high + 1)),
                     static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}

}  // namespace

Status check_options(const ServerOptions& options) {
  constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;
  constexpr std::size_t kGigabyte = std::size_t{1} << 30;
  LAYARD_TRY(check_range("port", options.port, 0, 65535));
  LAYARD_TRY(check_range("io_threads", options.io_threads, 1, 64));
  LAYARD_TRY(check_size("connections_max", options.connections_max, 1, 1'000'000));
  LAYARD_TRY(
      check_size("connections_refusing_max", options.connections_refusing_max, 0, 1'000'000));
  LAYARD_TRY(check_range("retry_after_s", options.retry_after_s, 1, 86'400));
  LAYARD_TRY(check_size("head.head_bytes_max", options.head.head_bytes_max, 256, 48 * 1024));
  LAYARD_TRY(check_size("head.fields_max", options.head.fields_max, 1, 1000));
  LAYARD_TRY(check_size("head.target_bytes_max", options.head.target_bytes_max, 1, 48 * 1024));
  LAYARD_TRY(check_size("body_bytes_max", options.body_bytes_max, 0, kGigabyte));
  LAYARD_TRY(
      check_size("body_memory_bytes_max", options.body_memory_bytes_max, 4096, kGigabyte * 1024));
  LAYARD_TRY(check_size("stream_queue_bytes_max", options.stream_queue_bytes_max, 1, kGigabyte));
  LAYARD_TRY(check_size("discard_bytes_max", options.discard_bytes_max, 0, kGigabyte));
  LAYARD_TRY(check_range("idle_ms", options.idle_ms, 1, kDayMs));
  LAYARD_TRY(check_range("head_ms", options.head_ms, 1, kDayMs));
  LAYARD_TRY(check_range("body_ms", options.body_ms, 1, kDayMs));
  LAYARD_TRY(check_range("write_ms", options.write_ms, 1, kDayMs));
  LAYARD_TRY(check_range("linger_ms", options.linger_ms, 1, kDayMs));
  return check_range("drain_ms", options.drain_ms, 0, kDayMs);
}

Response Handler::refusal_response(const Refusal& refusal, std::string_view /*path*/) {
  return make_response(refusal.status(), "text/plain; charset=utf-8", refusal.message + "\n");
}

void Handler::loop_begins(SocketLoop& /*loop*/) {}

void Handler::loop_ends(SocketLoop& /*loop*/, std::function<void()> done) { done(); }

Counters ServerState::snapshot() const {
  Counters now;
  now.connections_accepted = counters.connections_accepted;
  now.connections_open = connections;
  now.accept_errors = counters.accept_errors;
  now.connections_idle_closed = counters.connections_idle_closed;
  now.requests = counters.requests;
  now.requests_open = counters.requests_open;
  now.refused_by_handler = counters.refused_by_handler;
  for (std::size_t i = 0; i < kRefusalReasons; ++i) now.refused[i] = counters.refused[i];
  for (std::size_t i = 0; i < now.responses.size(); ++i) now.responses[i] = counters.responses[i];
  now.clients_gone = counters.clients_gone;
  now.responses_cut = counters.responses_cut;
  now.response_fields_dropped = counters.response_fields_dropped;
  now.bytes_received = counters.bytes_received;
  now.bytes_sent = counters.bytes_sent;
  now.body_memory_bytes = budget->used();
  return now;
}

}  // namespace layard::http
