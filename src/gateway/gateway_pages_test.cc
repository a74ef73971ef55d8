#include "gateway/gateway_pages.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "layard/version.h"
#include "support/policy_setup.h"

namespace layard::gateway {
namespace {

using base::JsonValue;
using Names = std::vector<std::string>;

constexpr const char* kPolicy =
    "version: 1\n"
    "min_confidence: 0.16\n"
    "default: gpu0\n"
    "model_names: [assistant, \"*\"]\n"
    "size_gate: null\n"
    "question:\n"
    "  instructions: Which?\n"
    "  options: {code: programs, prose: texts}\n"
    "classes:\n"
    "  code: {device: gpu0, why: its drafter knows code}\n"
    "  prose: {device: gpu1, evidence: e1}\n"
    "evidence:\n"
    "  e1: {n: 24, baseline: gpu0, gain_ms: 300, ci95_ms: [200, 400], date: 2026-01-02}\n"
    "devices:\n"
    "  gpu0: {url: \"http://10.1.2.3:9001\", model: chat-27b, api_key_env: GPU0_KEY}\n"
    "  gpu1: {url: \"http://10.1.2.4:9002/secret-path\", model: chat-27b}\n"
    "  spare: {url: \"http://10.1.2.5:9003\", requests_max: 4}\n"
    "  bare: {model: other}\n";

GatewaySetupPtr new_setup() {
  return testing::read_setup({kPolicy, {}, "auto", {{"GPU0_KEY", "secret-key"}}}).value();
}

PageInput input_of(const GatewaySetupPtr& setup) {
  PageInput input;
  input.setup = setup;
  input.devices = setup->fleet->view(0);
  return input;
}

// Devices of a new setup, of which `down` take no requests.
PageInput with_down(const std::vector<std::size_t>& down) {
  const GatewaySetupPtr setup = new_setup();
  for (const std::size_t device : down) setup->fleet->drain(device, 0);
  return input_of(setup);
}

JsonValue read(const std::string& json) {
  auto value = base::parse_json(json, base::JsonLimits{});
  EXPECT_TRUE(value.ok()) << json;
  return value.ok() ? *std::move(value) : JsonValue::null();
}

// `a.b.c` of an object; numbers are places in lists.
std::string at(const JsonValue& root, const std::string& path) {
  const JsonValue* value = &root;
  for (std::size_t begin = 0; value != nullptr && begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (value->is_array()) {
      const std::size_t place = std::stoul(name);
      value = place < value->items().size() ? &value->items()[place] : nullptr;
    } else {
      value = value->find(name);
    }
    begin = end + 1;
  }
  return value == nullptr ? "absent" : base::write_json(*value, base::JsonStyle::kCompact);
}

TEST(GatewayPages, Models) {
  EXPECT_EQ(models_json(new_setup()->policy),
            R"({"object":"list","data":[)"
            R"({"id":"auto","object":"model","created":0,"owned_by":"layard"},)"
            R"({"id":"assistant","object":"model","created":0,"owned_by":"layard"},)"
            R"({"id":"gpu0","object":"model","created":0,"owned_by":"layard"},)"
            R"({"id":"gpu1","object":"model","created":0,"owned_by":"layard"},)"
            R"({"id":"spare","object":"model","created":0,"owned_by":"layard"},)"
            R"({"id":"chat-27b","object":"model","created":0,"owned_by":"layard"}]})");
  RoutePolicy policy;
  policy.model_names = {"assistant", "auto"};
  const JsonValue list = read(models_json(policy));
  EXPECT_EQ(at(list, "data.0.id"), R"("assistant")");
  EXPECT_EQ(at(list, "data.1.id"), R"("auto")") << "once, where the policy has it";
  EXPECT_EQ(at(list, "data.2"), "absent");
}

TEST(GatewayPages, HealthWords) {
  const auto check = [](PageInput input, bool refused, std::string_view word, bool ready) {
    if (refused) input.reload.error = "line 3 is wrong";
    EXPECT_EQ(health_word(input), word) << word;
    EXPECT_EQ(is_ready(input), ready) << word;
    const JsonValue json = read(health_json(input));
    EXPECT_EQ(at(json, "status"), "\"" + std::string(word) + "\"");
    EXPECT_EQ(at(json, "reload_failed"), refused ? "true" : "false");
  };
  check(with_down({}), false, "ok", true);
  check(with_down({2}), false, "ok", true);  // no class goes there
  check(with_down({0}), false, "degraded", true);
  check(with_down({1}), false, "degraded", true);
  check(with_down({0, 1}), false, "degraded", true);
  check(with_down({0, 1, 2}), false, "down", false);
  check(with_down({}), true, "degraded", true);
  check(with_down({0, 1, 2}), true, "down", false);
  PageInput cooling = with_down({});
  for (DeviceView& device : cooling.devices) device.is_cooling = true;
  check(cooling, false, "down", false);
  cooling.devices[2].is_cooling = false;
  check(cooling, false, "degraded", true);
}

TEST(GatewayPages, StatesThatTakeRequests) {
  using State = DeviceState;
  for (const auto& [state, takes] :
       std::vector<std::pair<State, bool>>{{State::kStarting, false},
                                           {State::kHealthy, true},
                                           {State::kEjected, false},
                                           {State::kHalfOpen, true},
                                           {State::kDraining, false}}) {
    PageInput input = input_of(new_setup());
    for (DeviceView& device : input.devices) device.state = state;
    EXPECT_EQ(is_ready(input), takes) << device_state_name(state);
    EXPECT_EQ(health_word(input), takes ? "ok" : "down") << device_state_name(state);
  }
}

TEST(GatewayPages, Health) {
  EXPECT_EQ(health_json(with_down({1})),
            R"({"status":"degraded","classes":{"code":{"device":"gpu0","state":"healthy"},)"
            R"("prose":{"device":"gpu1","state":"draining"}},)"
            R"("devices":{"gpu0":"healthy","gpu1":"draining","spare":"healthy"},)"
            R"("reload_failed":false})");
}

StatTimes times(const std::vector<double>& seconds) {
  StatTimes out;
  for (const double one : seconds) out.add(one);
  return out;
}

// Every number another.
PageInput busy_input() {
  PageInput input = input_of(new_setup());
  input.devices[0].is_cooling = true;
  input.devices[0].in_flight = 2;
  input.devices[0].waiting = 3;
  input.devices[0].failures_in_a_row = 1;
  input.devices[0].backlog_ms = 12.34;
  DeviceStats& device = input.stats.devices["gpu0"];
  device.attempts = 21;
  device.failures = 22;
  device.cut = 23;
  device.by_status = {{200, 24}, {503, 25}};
  device.prompt_tokens = 26;
  device.completion_tokens = 27;
  device.first_byte = times({0.004});
  device.total = times({0.2, 0.4});
  input.stats.replies[0] = {{200, 31}, {429, 32}};
  input.stats.replies[5] = {{400, 33}};
  for (std::size_t i = 0; i < kDecisionSources; ++i) input.stats.decisions[i] = 40 + i;
  input.stats.classes = {{"code", 51}};
  input.stats.decision = times({0.03, 0.03, 0.2});
  input.stats.added = times({700});
  input.stats.decision_failures = 61;
  input.stats.overflows = 62;
  input.stats.retries = 63;
  input.stats.clients_gone = 64;
  input.stats.keepalives = 65;
  input.stats.in_flight = 66;
  input.stats.recent = {{1000, "code", 0.123456, "gpu0", DecisionSource::kModel, 1.5, 200},
                        {999, "", 0, "", DecisionSource::kError, 0, 503}};
  input.sticky.hits = 71;
  input.sticky.misses = 72;
  input.conversations = 73;
  input.log = {74, 75, 76};
  input.reload = {1234, "", 77, 78};
  input.laya = true;
  input.model = "starter";
  input.uptime_ms = 79;
  return input;
}

TEST(GatewayPages, Status) {
  const JsonValue json = read(status_json(busy_input()));
  const auto check = [&](const std::string& path, const std::string& expected) {
    EXPECT_EQ(at(json, path), expected) << path;
  };
  check("version", "\"" + std::string(version()) + "\"");
  check("status", R"("degraded")");  // a device that asked for a pause takes nothing
  check("uptime_ms", "79");
  check("laya", "true");
  check("model", R"("starter")");
  check("policy.default", R"("gpu0")");
  check("policy.min_confidence", "0.16");
  check("policy.warnings", R"(["bare is not a candidate: it has no url"])");
  check("policy.last_reload", R"({"time_ms":1234,"error":null,"taken":77,"refused":78})");
  check("classes.code", R"({"device":"gpu0","state":"healthy","why":"its drafter knows code",)"
                        R"("decisions":51})");
  check("classes.prose", R"({"device":"gpu1","state":"healthy","decisions":0})");
  check("devices.0.name", R"("gpu0")");
  check("devices.0.state", R"("healthy")");
  check("devices.0.cooling", "true");
  check("devices.0.in_flight", "2");
  check("devices.0.waiting", "3");
  check("devices.0.failures_in_a_row", "1");
  check("devices.0.backlog_ms", "12.3");
  check("devices.0.attempts", "21");
  check("devices.0.failures", "22");
  check("devices.0.cut", "23");
  check("devices.0.replies", R"({"200":24,"503":25})");
  check("devices.0.prompt_tokens", "26");
  check("devices.0.completion_tokens", "27");
  check("devices.0.first_byte",
        R"({"count":1,"mean_ms":4.0,"p50_at_most_ms":5.0,"p99_at_most_ms":5.0})");
  check("devices.0.total.mean_ms", "300.0");
  check("devices.1.attempts", "0");
  check("devices.1.total",
        R"({"count":0,"mean_ms":0.0,"p50_at_most_ms":0.0,"p99_at_most_ms":0.0})");
  check("devices.2.name", R"("spare")");
  check("devices.3", "absent");
  check("decisions.sources", R"({"model":40,"gate":41,"sticky":42,"override":43,"default":44,)"
                             R"("skipped":45,"error":46})");
  check("decisions.failures", "61");
  check("decisions.model_time.count", "3");
  check("decisions.model_time.p50_at_most_ms", "50.0");
  check("decisions.model_time.p99_at_most_ms", "250.0");
  check("decisions.conversations", "73");
  check("decisions.sticky_hits", "71");
  check("decisions.sticky_misses", "72");
  check("decisions.logged", "74");
  check("decisions.log_dropped", "75");
  check("decisions.log_failed", "76");
  check("requests.in_flight", "66");
  check("requests.overflows", "62");
  check("requests.retries", "63");
  check("requests.clients_gone", "64");
  check("requests.keepalives", "65");
  check("requests.chat_completions", R"({"200":31,"429":32})");
  check("requests.messages", "{}");
  check("requests.count_tokens", R"({"400":33})");
  check("recent.0", R"({"time_ms":1000,"class":"code","confidence":0.1235,"device":"gpu0",)"
                    R"("source":"model","decision_ms":1.5,"status":200})");
  check("recent.1", R"({"time_ms":999,"class":null,"confidence":0.0,"device":null,)"
                    R"("source":"error","decision_ms":0.0,"status":503})");
  check("recent.2", "absent");
}

TEST(GatewayPages, StatusWithoutAModelAndAfterARefusedReload) {
  PageInput input = input_of(new_setup());
  input.model = "starter";
  input.reload.error = "line 3 is wrong";
  const JsonValue json = read(status_json(input));
  EXPECT_EQ(at(json, "laya"), "false");
  EXPECT_EQ(at(json, "model"), "null");
  EXPECT_EQ(at(json, "status"), R"("degraded")");
  EXPECT_EQ(at(json, "policy.last_reload.error"), R"("line 3 is wrong")");
  EXPECT_EQ(at(json, "policy.hash"), "\"" + input.setup->hash + "\"");
}

TEST(GatewayPages, NoAddressAndNoKey) {
  const PageInput input = busy_input();
  ASSERT_EQ(input.setup->links[0].api_key, "secret-key");
  for (const std::string& text :
       {status_json(input), health_json(input), models_json(input.setup->policy)}) {
    for (const char* secret : {"secret", "10.1.2", "9001", "http", "GPU0_KEY"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << secret << " in " << text;
    }
  }
}

TEST(GatewayPages, Files) {
  const auto check = [](std::string_view path, std::string_view content_type,
                        std::string_view part) {
    const PageFile* file = find_page_file(path);
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(file->path, path);
    EXPECT_EQ(file->content_type, content_type) << path;
    EXPECT_NE(file->content.find(part), std::string_view::npos) << path;
    const http::Response response = page_response(*file);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, file->content);
    EXPECT_EQ(response.fields.value_or_empty("Content-Type"), content_type);
    EXPECT_EQ(response.fields.value_or_empty("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(response.fields.value_or_empty("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(response.fields.value_or_empty("Cache-Control"), "no-cache");
    const std::string_view policy = response.fields.value_or_empty("Content-Security-Policy");
    for (const char* rule : {"default-src 'none'", "script-src 'self';", "connect-src 'self'",
                             "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"}) {
      EXPECT_NE(policy.find(rule), std::string_view::npos) << rule;
    }
    EXPECT_EQ(policy.find("unsafe"), std::string_view::npos);
  };
  check("/", "text/html; charset=utf-8", "<html");
  check("/status.js", "text/javascript; charset=utf-8", "/gateway/status");
  check("/status.css", "text/css; charset=utf-8", "{");
  for (const char* path : {"", "/index.html", "/web/index.html", "status.js", "/status.js/"}) {
    EXPECT_EQ(find_page_file(path), nullptr) << path;
  }
}

// What the page's policy would not let run or load is not in it.
TEST(GatewayPages, ThePageNeedsNobodyElse) {
  const std::string_view html = find_page_file("/")->content;
  for (const char* part : {"http://", "https://", "<style", "style=", "onclick", "onload="}) {
    EXPECT_EQ(html.find(part), std::string_view::npos) << part;
  }
  for (std::size_t begin = html.find("<script"); begin != html.npos;
       begin = html.find("<script", begin + 1)) {
    const std::string_view tag = html.substr(begin, html.find('>', begin) - begin);
    EXPECT_NE(tag.find("src=\"/"), std::string_view::npos) << tag;
  }
}

}  // namespace
}  // namespace layard::gateway
