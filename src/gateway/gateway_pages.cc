#include "gateway/gateway_pages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/number_text.h"
#include "gateway/device_order.h"
#include "gateway/page_assets.h"
#include "layard/version.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

// The page's own files, and nothing else, may run or be loaded in it.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

JsonValue text(std::string_view value) { return JsonValue::string(std::string(value)); }
JsonValue whole(std::uint64_t value) {
  return JsonValue::integer(static_cast<std::int64_t>(value));
}
JsonValue number(double value, int digits) {
  return JsonValue::real_text(base::fixed(std::isfinite(value) ? value : 0, digits));
}

const DeviceView* view_of(const PageInput& input, std::string_view name) {
  const auto found = std::ranges::find(input.devices, name, &DeviceView::name);
  return found == input.devices.end() ? nullptr : &*found;
}

bool takes_requests(const DeviceView& device) {
  return !device.is_cooling &&
         (device.state == DeviceState::kHealthy || device.state == DeviceState::kHalfOpen);
}

// The device that a class goes to when all are up.
std::string device_of(const PageInput& input, const std::string& class_name) {
  return pick_device(input.setup->policy, class_name, 1, input.setup->device_names());
}

std::string_view state_name(const PageInput& input, std::string_view device) {
  const DeviceView* view = view_of(input, device);
  return view == nullptr ? "absent" : device_state_name(view->state);
}

JsonValue classes_json(const PageInput& input) {
  JsonValue out = JsonValue::object();
  for (const std::string& name : input.setup->policy.classes()) {
    const std::string device = device_of(input, name);
    const PolicyRow* row = input.setup->policy.row(name);
    JsonValue entry = JsonValue::object();
    entry.set("device", text(device));
    entry.set("state", text(state_name(input, device)));
    if (row != nullptr && !row->why.empty()) entry.set("why", text(row->why));
    const auto decided = input.stats.classes.find(name);
    entry.set("decisions", whole(decided == input.stats.classes.end() ? 0 : decided->second));
    out.set(name, std::move(entry));
  }
  return out;
}

// Seconds under which a share of the times lie, by the bounds; 0 without any.
double quantile_s(const StatTimes& times, double share) {
  const std::uint64_t count = times.count();
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kStatBoundsS.size(); ++i) {
    seen += times.counts[i];
    if (count > 0 && static_cast<double>(seen) >= share * static_cast<double>(count)) {
      return kStatBoundsS[i];
    }
  }
  return count == 0 ? 0 : kStatBoundsS.back();
}

JsonValue times_json(const StatTimes& times) {
  JsonValue out = JsonValue::object();
  const std::uint64_t count = times.count();
  out.set("count", whole(count));
  out.set("mean_ms", number(count == 0 ? 0 : 1000 * times.sum_s / static_cast<double>(count), 3));
  out.set("p50_at_most_ms", number(1000 * quantile_s(times, 0.5), 1));
  out.set("p99_at_most_ms", number(1000 * quantile_s(times, 0.99), 1));
  return out;
}

JsonValue statuses_json(const std::map<int, std::uint64_t>& by_status) {
  JsonValue out = JsonValue::object();
  for (const auto& [status, count] : by_status) out.set(std::to_string(status), whole(count));
  return out;
}

JsonValue device_json(const PageInput& input, const DeviceView& device) {
  JsonValue out = JsonValue::object();
  out.set("name", text(device.name));
  const auto& servers = input.setup->policy.servers;
  if (const auto server = std::ranges::find(servers, device.name, &PolicyDevice::name);
      server != servers.end()) {
    out.set("model", text(server->model));
    out.set("requests_max", JsonValue::integer(server->requests_max));
    out.set("queue_max", JsonValue::integer(server->queue_max));
  }
  out.set("state", text(device_state_name(device.state)));
  out.set("cooling", JsonValue::boolean(device.is_cooling));
  out.set("in_flight", JsonValue::integer(device.in_flight));
  out.set("waiting", JsonValue::integer(device.waiting));
  out.set("failures_in_a_row", JsonValue::integer(device.failures_in_a_row));
  out.set("backlog_ms", number(device.backlog_ms, 1));
  const auto found = input.stats.devices.find(device.name);
  const DeviceStats stats = found == input.stats.devices.end() ? DeviceStats() : found->second;
  out.set("attempts", whole(stats.attempts));
  out.set("failures", whole(stats.failures));
  out.set("cut", whole(stats.cut));
  out.set("replies", statuses_json(stats.by_status));
  out.set("prompt_tokens", whole(stats.prompt_tokens));
  out.set("completion_tokens", whole(stats.completion_tokens));
  out.set("first_byte", times_json(stats.first_byte));
  out.set("total", times_json(stats.total));
  return out;
}

JsonValue policy_json(const PageInput& input) {
  const GatewaySetup& setup = *input.setup;
  JsonValue out = JsonValue::object();
  out.set("hash", text(setup.hash));
  out.set("loaded_ms", JsonValue::integer(setup.loaded_ms));
  out.set("default", text(setup.policy.default_device));
  out.set("min_confidence", number(setup.policy.min_confidence, 4));
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : setup.warnings) warnings.push_back(text(warning));
  out.set("warnings", std::move(warnings));
  JsonValue reload = JsonValue::object();
  reload.set("time_ms", JsonValue::integer(input.reload.time_ms));
  reload.set("error", input.reload.error.empty() ? JsonValue::null() : text(input.reload.error));
  reload.set("taken", whole(input.reload.taken));
  reload.set("refused", whole(input.reload.refused));
  out.set("last_reload", std::move(reload));
  return out;
}

JsonValue recent_json(const StatsSnapshot& stats) {
  JsonValue out = JsonValue::array();
  for (const RecentDecision& recent : stats.recent) {
    JsonValue entry = JsonValue::object();
    entry.set("time_ms", JsonValue::integer(recent.time_ms));
    entry.set("class", recent.class_name.empty() ? JsonValue::null() : text(recent.class_name));
    entry.set("confidence", number(recent.confidence, 4));
    entry.set("device", recent.device.empty() ? JsonValue::null() : text(recent.device));
    entry.set("source", text(decision_source_name(recent.source)));
    entry.set("decision_ms", number(recent.decision_ms, 3));
    entry.set("status", JsonValue::integer(recent.status));
    out.push_back(std::move(entry));
  }
  return out;
}

JsonValue decisions_json(const PageInput& input) {
  JsonValue out = JsonValue::object();
  JsonValue sources = JsonValue::object();
  for (std::size_t i = 0; i < input.stats.decisions.size(); ++i) {
    sources.set(std::string(decision_source_name(static_cast<DecisionSource>(i))),
                whole(input.stats.decisions[i]));
  }
  out.set("sources", std::move(sources));
  out.set("failures", whole(input.stats.decision_failures));
  out.set("model_time", times_json(input.stats.decision));
  out.set("conversations", whole(input.conversations));
  out.set("sticky_hits", whole(input.sticky.hits));
  out.set("sticky_misses", whole(input.sticky.misses));
  out.set("logged", whole(input.log.written));
  out.set("log_dropped", whole(input.log.dropped));
  out.set("log_failed", whole(input.log.failed));
  return out;
}

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

std::vector<PageFile> make_page_files() {
  std::vector<PageFile> out;
  static std::vector<std::string> paths;  // what the files' paths are views of
  paths.reserve(page_assets().size());
  for (const Asset& asset : page_assets()) {
    const std::string_view name = asset.name.substr(std::string_view("web").size());
    paths.emplace_back(name == "/index.html" ? "/" : std::string(name));
    out.push_back({paths.back(), content_type_of(asset.name), asset.content});
  }
  return out;
}

}  // namespace

std::string models_json(const RoutePolicy& policy) {
  JsonValue data = JsonValue::array();
  std::vector<std::string> names = known_models(policy);
  if (std::ranges::find(names, "auto") == names.end()) names.insert(names.begin(), "auto");
  for (const std::string& name : names) {
    JsonValue entry = JsonValue::object();
    entry.set("id", text(name));
    entry.set("object", text("model"));
    entry.set("created", JsonValue::integer(0));
    entry.set("owned_by", text("layard"));
    data.push_back(std::move(entry));
  }
  JsonValue out = JsonValue::object();
  out.set("object", text("list"));
  out.set("data", std::move(data));
  return base::write_json(out, base::JsonStyle::kCompact);
}

bool is_ready(const PageInput& input) { return std::ranges::any_of(input.devices, takes_requests); }

std::string_view health_word(const PageInput& input) {
  if (!is_ready(input)) return "down";
  if (!input.reload.error.empty()) return "degraded";
  for (const std::string& name : input.setup->policy.classes()) {
    const DeviceView* device = view_of(input, device_of(input, name));
    if (device == nullptr || !takes_requests(*device)) return "degraded";
  }
  return "ok";
}

std::string health_json(const PageInput& input) {
  JsonValue out = JsonValue::object();
  out.set("status", text(health_word(input)));
  JsonValue classes = JsonValue::object();
  for (const std::string& name : input.setup->policy.classes()) {
    const std::string device = device_of(input, name);
    JsonValue entry = JsonValue::object();
    entry.set("device", text(device));
    entry.set("state", text(state_name(input, device)));
    classes.set(name, std::move(entry));
  }
  out.set("classes", std::move(classes));
  JsonValue devices = JsonValue::object();
  for (const DeviceView& device : input.devices) {
    devices.set(device.name, text(device_state_name(device.state)));
  }
  out.set("devices", std::move(devices));
  out.set("reload_failed", JsonValue::boolean(!input.reload.error.empty()));
  return base::write_json(out, base::JsonStyle::kCompact);
}

std::string status_json(const PageInput& input) {
  JsonValue out = JsonValue::object();
  out.set("version", text(version()));
  out.set("status", text(health_word(input)));
  out.set("uptime_ms", JsonValue::integer(input.uptime_ms));
  out.set("laya", JsonValue::boolean(input.laya));
  out.set("model", input.laya ? text(input.model) : JsonValue::null());
  out.set("policy", policy_json(input));
  out.set("classes", classes_json(input));
  JsonValue devices = JsonValue::array();
  for (const DeviceView& device : input.devices) devices.push_back(device_json(input, device));
  out.set("devices", std::move(devices));
  out.set("decisions", decisions_json(input));
  JsonValue requests = JsonValue::object();
  requests.set("in_flight", whole(input.stats.in_flight));
  requests.set("added", times_json(input.stats.added));
  requests.set("overflows", whole(input.stats.overflows));
  requests.set("retries", whole(input.stats.retries));
  requests.set("clients_gone", whole(input.stats.clients_gone));
  requests.set("keepalives", whole(input.stats.keepalives));
  for (std::size_t i = 0; i < kApis; ++i) {
    requests.set(std::string(api_name(static_cast<Api>(i))), statuses_json(input.stats.replies[i]));
  }
  out.set("requests", std::move(requests));
  out.set("recent", recent_json(input.stats));
  return base::write_json(out, base::JsonStyle::kCompact);
}

const PageFile* find_page_file(std::string_view path) {
  static const std::vector<PageFile> files = make_page_files();
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

http::Response page_response(const PageFile& file) {
  http::Response response = http::make_response(200, file.content_type, std::string(file.content));
  response.fields.add("Content-Security-Policy", kPagePolicy);
  response.fields.add("X-Content-Type-Options", "nosniff");
  response.fields.add("Referrer-Policy", "no-referrer");
  response.fields.add("Cache-Control", "no-cache");
  return response;
}

}  // namespace layard::gateway
