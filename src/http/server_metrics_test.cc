#include "http/server_metrics.h"

#include <gtest/gtest.h>

#include "http/refusal.h"

namespace layard::http {
namespace {

TEST(ServerMetrics, EveryCounterHasAFamily) {
  Counters counters;
  counters.connections_accepted = 11;
  counters.connections_open = 12;
  counters.accept_errors = 13;
  counters.requests = 14;
  counters.requests_open = 15;
  counters.clients_gone = 16;
  counters.responses_cut = 17;
  counters.bytes_received = 18;
  counters.bytes_sent = 19;
  counters.body_memory_bytes = 20;
  counters.refused[static_cast<std::size_t>(RefusalReason::kHost)] = 21;
  base::MetricFamilies families;
  add_server_metrics(families, counters);
  const std::string text = families.text();
  for (const char* line :
       {"layard_http_connections_total 11\n", "layard_http_connections 12\n",
        "layard_http_accept_errors_total 13\n", "layard_http_requests_total 14\n",
        "layard_http_requests_open 15\n", "layard_http_clients_gone_total 16\n",
        "layard_http_responses_cut_total 17\n", "layard_http_received_bytes_total 18\n",
        "layard_http_sent_bytes_total 19\n", "layard_http_body_bytes 20\n",
        "layard_http_refused_total{reason=\"host\"} 21\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace layard::http
