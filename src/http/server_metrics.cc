#include "http/server_metrics.h"

#include <string>

#include "http/refusal.h"

namespace layard::http {

void add_server_metrics(base::MetricFamilies& families, const Counters& counters) {
  families.counter("http_connections_total", "Connections that were accepted",
                   counters.connections_accepted);
  families.gauge("http_connections", "Connections that are open",
                 static_cast<double>(counters.connections_open));
  families.counter("http_accept_errors_total", "Connections lost for want of descriptors or memory",
                   counters.accept_errors);
  families.counter("http_requests_total", "Requests whose header was read", counters.requests);
  families.gauge("http_requests_open", "Requests that are being answered",
                 static_cast<double>(counters.requests_open));
  const auto refused = families.add("http_refused_total", base::MetricType::kCounter,
                                    "Requests and connections refused below the endpoints");
  for (const RefusalInfo& info : refusal_table()) {
    families.put(refused, {{"reason", std::string(info.name)}},
                 static_cast<double>(counters.refused[static_cast<std::size_t>(info.reason)]));
  }
  families.counter("http_clients_gone_total", "Clients that left before their answer",
                   counters.clients_gone);
  families.counter("http_responses_cut_total", "Answers that could not be sent whole",
                   counters.responses_cut);
  families.counter("http_received_bytes_total", "Bytes from clients", counters.bytes_received);
  families.counter("http_sent_bytes_total", "Bytes to clients", counters.bytes_sent);
  families.gauge("http_body_bytes", "Memory of request bodies",
                 static_cast<double>(counters.body_memory_bytes));
}

}  // namespace layard::http
