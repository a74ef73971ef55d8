/// The endpoints: what is admitted, what each one answers. Knows requests and responses, but no
/// sockets.
///
/// Order of checks: Host, Origin, path and method, key, content type, room in the queue; then the
/// body is read, and checks.h goes on.
/// Source: laya 0.4.15 serve, laya-apple 1.7.0 serve (order, headers). Departs: 415 comes before
/// 503, as in laya-apple.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_log.h"
#include "base/side_thread.h"
#include "http/refusal.h"
#include "http/server.h"
#include "server/access.h"
#include "server/asked.h"
#include "server/checks.h"
#include "server/decider.h"
#include "server/request_stats.h"
#include "server/status_pages.h"

namespace layard::server {

struct ApiOptions {
  RequestLimits limits;
  OverflowPolicy overflow = OverflowPolicy::kCut;  // of requests that do not say
  bool jev_strict = false;                         // of requests that do not say
  /// How long a request may wait in the queue; also the most a request may ask for; 0: no bound.
  double deadline_ms = 30'000;
};

/// Where one request's answer goes. `send` is called at most once, from any thread; an answer to
/// somebody who left goes nowhere.
struct Reply {
  std::function<void(http::Response)> send;
  std::stop_token cancelled;
};

/// Thread-safety: all calls may come from any thread. Must outlive all replies.
class Api {
 public:
  /// `decider`, `log` and `clock` must outlive it.
  Api(Decider& decider, ApiOptions options, Access access, ServerFacts facts,
      const base::EventLog& log, const base::Clock& clock);

  /// The refusal of a request whose header was read, or nothing.
  std::optional<http::Response> admit(const http::Request& request);

  /// Answers a whole request that was admitted; larger ones are read on a thread beside.
  void handle(http::Request request, Reply reply);

  /// The response to what the server below refuses.
  http::Response refusal(const http::Refusal& refusal);

  /// Where /metrics takes the counts of connections from; until then they are zero.
  void set_counters(std::function<http::Counters()> counters);

  /// Asks the decider nothing from here on: what was not asked yet is dropped without an answer.
  void close() { side_.close(); }

 private:
  struct Call;

  std::optional<Fault> fault_before_body(const http::Request& request,
                                         const RouteMatch& route) const;
  http::Response finished(const Call& call, http::Response response);
  void send(const Call& call, const Reply& reply, http::Response response);
  void fail(const Call& call, const Reply& reply, const Fault& fault);
  void ask(Call call, Reply reply, Asked asked);
  void answer(Call& call, const Reply& reply, std::vector<ServiceAnswer> answers,
              const std::function<std::string(std::vector<ServiceAnswer>)>& render);
  void log_failure(const Call& call, const Error& error) const;
  void decide(const http::Request& request, Endpoint endpoint, const Reply& reply);
  void read_and_ask(Call call, const http::Request& request, const Reply& reply);
  void fail_thrown(const Call& call, const Reply& reply, const std::exception& thrown);
  http::Response page(const http::Request& request, Endpoint endpoint);
  OrFault<double> deadline_of(const http::Fields& fields) const;
  FailedModel failed_model(const Request& request) const;
  KnownModels known_models() const;
  std::string next_id();

  Decider& decider_;
  const ApiOptions options_;
  const Access access_;
  const ServerFacts facts_;
  const base::EventLog& log_;
  const base::Clock& clock_;
  const std::string id_prefix_;
  std::atomic<std::uint64_t> last_id_ = 0;
  RequestStats stats_;
  std::mutex counters_mutex_;
  std::function<http::Counters()> counters_;  // guarded by counters_mutex_
  base::SideThread side_;                     // last: its work uses what is above
};

}  // namespace layard::server
