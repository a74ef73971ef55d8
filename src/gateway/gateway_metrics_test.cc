#include "gateway/gateway_metrics.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "layard/version.h"
#include "support/policy_setup.h"

namespace layard::gateway {
namespace {

constexpr const char* kPolicy =
    "version: 1\n"
    "default: gpu0\n"
    "classes: {code: {device: gpu0}}\n"
    "devices:\n"
    "  gpu0: {url: \"http://10.1.2.3:9001\", requests_max: 4, queue_max: 8}\n"
    "  gpu1: {url: \"http://10.1.2.4:9002\", api_key_env: GPU1_KEY}\n";

// Every number another.
PageInput example() {
  PageInput input;
  input.setup = testing::read_setup({kPolicy, {}, "auto", {{"GPU1_KEY", "secret-key"}}}).value();
  input.setup->fleet->drain(1, 0);
  input.devices = input.setup->fleet->view(0);
  input.devices[0].in_flight = 2;
  input.devices[0].waiting = 3;
  DeviceStats& device = input.stats.devices["gpu0"];
  device.attempts = 21;
  device.failures = 22;
  device.cut = 23;
  device.by_status = {{200, 24}, {503, 25}};
  device.prompt_tokens = 26;
  device.completion_tokens = 27;
  device.first_byte.add(0.25);
  device.total.add(0.5);
  device.total.add(700);
  input.stats.replies[0] = {{200, 31}};
  input.stats.replies[4] = {{429, 32}};
  for (std::size_t i = 0; i < kDecisionSources; ++i) input.stats.decisions[i] = 40 + i;
  input.stats.classes = {{"code", 51}};
  input.stats.decision.add(0.0005);
  input.stats.added.add(0.75);
  input.stats.decision_failures = 61;
  input.stats.overflows = 62;
  input.stats.retries = 63;
  input.stats.clients_gone = 64;
  input.stats.keepalives = 65;
  input.stats.in_flight = 66;
  input.sticky.hits = 71;
  input.conversations = 73;
  input.log = {74, 75, 76};
  input.reload = {1234, "line 3 is wrong", 77, 78};
  input.http.connections_open = 81;
  return input;
}

TEST(GatewayMetrics, Values) {
  const PageInput input = example();
  const std::string text = "\n" + gateway_metrics_text(input);
  const std::vector<std::string> lines = {
      "layard_build_info{version=\"" + std::string(version()) + "\"} 1",
      "layard_gateway_replies_total{api=\"chat_completions\",status=\"200\"} 31",
      "layard_gateway_replies_total{api=\"messages\",status=\"429\"} 32",
      "layard_gateway_requests 66",
      "layard_gateway_retries_total 63",
      "layard_gateway_overflows_total 62",
      "layard_gateway_clients_gone_total 64",
      "layard_gateway_keepalives_total 65",
      "layard_gateway_added_seconds_sum 0.75",
      "layard_gateway_added_seconds_bucket{le=\"0.5\"} 0",
      "layard_gateway_added_seconds_bucket{le=\"1\"} 1",
      "layard_gateway_decisions_total{source=\"model\"} 40",
      "layard_gateway_decisions_total{source=\"gate\"} 41",
      "layard_gateway_decisions_total{source=\"sticky\"} 42",
      "layard_gateway_decisions_total{source=\"override\"} 43",
      "layard_gateway_decisions_total{source=\"default\"} 44",
      "layard_gateway_decisions_total{source=\"skipped\"} 45",
      "layard_gateway_decisions_total{source=\"error\"} 46",
      "layard_gateway_classes_total{class=\"code\"} 51",
      "layard_gateway_decision_failures_total 61",
      "layard_gateway_decision_seconds_bucket{le=\"0.0005\"} 1",
      "layard_gateway_decision_seconds_count 1",
      "layard_gateway_conversations 73",
      "layard_gateway_sticky_hits_total 71",
      "layard_gateway_decision_log_lines_total 74",
      "layard_gateway_decision_log_dropped_total 75",
      "layard_gateway_decision_log_failed_total 76",
      "layard_device_up{device=\"gpu0\"} 1",
      "layard_device_up{device=\"gpu1\"} 0",
      "layard_device_requests{device=\"gpu0\"} 2",
      "layard_device_requests{device=\"gpu1\"} 0",
      "layard_device_requests_max{device=\"gpu0\"} 4",
      "layard_device_requests_max{device=\"gpu1\"} 0",
      "layard_device_queue_max{device=\"gpu0\"} 8",
      "layard_device_waiting{device=\"gpu0\"} 3",
      "layard_device_replies_total{device=\"gpu0\",status=\"200\"} 24",
      "layard_device_replies_total{device=\"gpu0\",status=\"503\"} 25",
      "layard_device_attempts_total{device=\"gpu0\"} 21",
      "layard_device_failures_total{device=\"gpu0\"} 22",
      "layard_device_cut_total{device=\"gpu0\"} 23",
      "layard_device_prompt_tokens_total{device=\"gpu0\"} 26",
      "layard_device_completion_tokens_total{device=\"gpu0\"} 27",
      "layard_device_first_byte_seconds_sum{device=\"gpu0\"} 0.25",
      "layard_device_request_seconds_count{device=\"gpu0\"} 2",
      "layard_device_request_seconds_bucket{device=\"gpu0\",le=\"600\"} 1",
      "layard_device_request_seconds_bucket{device=\"gpu0\",le=\"+Inf\"} 2",
      "layard_gateway_policy_info{hash=\"" + input.setup->hash + "\"} 1",
      "layard_gateway_policy_reloads_total 77",
      "layard_gateway_policy_reloads_refused_total 78",
      "layard_gateway_policy_reload_failed 1",
      "layard_http_connections 81",
  };
  for (const std::string& line : lines) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\n" << text;
  }
}

TEST(GatewayMetrics, ATakenReloadEndsTheFailure) {
  PageInput input = example();
  input.reload.error.clear();
  EXPECT_NE(gateway_metrics_text(input).find("\nlayard_gateway_policy_reload_failed 0\n"),
            std::string::npos);
}

// Each family once, with a help, and named as Prometheus wants: counters end in _total, others not.
TEST(GatewayMetrics, FamiliesAreWellFormed) {
  std::istringstream lines(gateway_metrics_text(example()));
  const std::regex type_line("# TYPE (layard_[a-z_]+) (counter|gauge|histogram)");
  std::set<std::string> names;
  std::set<std::string> helped;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (line.starts_with("# HELP ")) {
      EXPECT_GT(line.size() - line.find(' ', 7), 2U) << line;
      helped.insert(line.substr(7, line.find(' ', 7) - 7));
    } else if (line.starts_with("# ")) {
      ASSERT_TRUE(std::regex_match(line, found, type_line)) << line;
      EXPECT_TRUE(names.insert(found[1]).second) << line << ": twice";
      EXPECT_EQ(found[2] == "counter", found.str(1).ends_with("_total")) << line;
    }
  }
  EXPECT_EQ(names, helped);
  EXPECT_GT(names.size(), 40U);
}

TEST(GatewayMetrics, NoAddressAndNoKey) {
  const std::string text = gateway_metrics_text(example());
  for (const char* secret : {"secret", "10.1.2", "9001", "http:", "GPU1_KEY", "line 3"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
}

}  // namespace
}  // namespace layard::gateway
