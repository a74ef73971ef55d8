#include "server/metrics.h"

#include <gtest/gtest.h>

#include <limits>

#include "http/refusal.h"
#include "layard/version.h"

namespace layard::server {
namespace {

MetricsInput example() {
  MetricsInput input;
  input.service.submitted = 12;
  input.service.completed = 7;
  input.service.refused = 2;
  input.service.queued = 3;
  input.service.queued_tokens = 99;
  input.service.queue_wait_s = {{0.001, 5}, {std::numeric_limits<double>::infinity(), 7}};
  input.service.queue_wait_s_sum = 0.25;
  ServedModel model;
  model.name = "starter";
  model.state = ServedModel::State::kReady;
  input.models = {model};
  input.http.connections_open = 4;
  input.http.refused[static_cast<std::size_t>(http::RefusalReason::kBodySize)] = 6;
  RequestStats requests;
  requests.add(Endpoint::kSystemOne, 200, 0.002);
  requests.add(Endpoint::kSystemOne, 422, 0.002);
  input.requests = requests.all();
  return input;
}

TEST(ServerMetrics, Values) {
  const std::string text = metrics_text(example());
  const std::string build = "layard_build_info{version=\"" + std::string(version()) + "\"} 1\n";
  for (const std::string& line : std::vector<std::string>{
           build,
           "# TYPE layard_decisions_submitted_total counter\n",
           "layard_decisions_submitted_total 12\n",
           "layard_decisions_total{outcome=\"completed\"} 7\n",
           "layard_decisions_total{outcome=\"refused\"} 2\n",
           "layard_decisions_queued 3\n",
           "layard_queue_tokens 99\n",
           "layard_model_loaded{model=\"starter\"} 1\n",
           "layard_http_connections 4\n",
           "layard_http_refused_total{reason=\"body_size\"} 6\n",
           "layard_http_responses_total{endpoint=\"systemone\",status=\"200\"} 1\n",
           "layard_http_responses_total{endpoint=\"systemone\",status=\"422\"} 1\n",
           "# TYPE layard_queue_wait_seconds histogram\n",
           "layard_queue_wait_seconds_count 7\n",
           "layard_queue_wait_seconds_sum 0.25\n",
           "layard_queue_wait_seconds_bucket{le=\"0.001\"} 5\n",
           "layard_queue_wait_seconds_bucket{le=\"+Inf\"} 7\n",
           "layard_http_request_duration_seconds_count{endpoint=\"systemone\"} 2\n",
           "layard_http_request_duration_seconds_bucket{endpoint=\"systemone\",le=\"0.001\"} 0\n",
           "layard_http_request_duration_seconds_bucket{endpoint=\"systemone\",le=\"0.0025\"} 2\n",
           "layard_http_request_duration_seconds_bucket{endpoint=\"systemone\",le=\"+Inf\"} 2\n"}) {
    EXPECT_NE(text.find("\n" + line), std::string::npos) << line << "\n" << text;
  }
}

TEST(ServerMetrics, EveryFamilyHasHelpAndType) {
  const std::string text = metrics_text(example());
  std::size_t help = 0;
  std::size_t type = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    help += text.compare(at, 14, "# HELP layard_") == 0 ? 1 : 0;
    type += text.compare(at, 14, "# TYPE layard_") == 0 ? 1 : 0;
  }
  EXPECT_GT(help, 20U);
  EXPECT_EQ(help, type);
}

}  // namespace
}  // namespace layard::server
