/// What the gateway tells of itself: models, health, status, metrics, and the page's files.
/// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/fleet.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_setup.h"
#include "gateway/gateway_stats.h"
#include "http/message.h"
#include "http/server.h"

namespace layard::gateway {

/// What the pages are made of, at one moment.
struct PageInput {
  GatewaySetupPtr setup;
  std::vector<DeviceView> devices;
  StatsSnapshot stats;
  StickyCounters sticky;
  std::size_t conversations = 0;
  ReloadState reload;
  DecisionLogCounters log;
  http::Counters http;
  bool laya = false;
  std::string model;
  std::int64_t uptime_ms = 0;
};

/// `{"object": "list", "data": [...]}`: the names that clients may use. Source: OpenAI's API.
std::string models_json(const RoutePolicy& policy);

/// Whether any device takes requests.
bool is_ready(const PageInput& input);
/// `ok`; `degraded`: a class's device is down, or the last reload was refused; `down`.
std::string_view health_word(const PageInput& input);
/// The word, each class with its device and that one's state, each device's state. Source: ours.
std::string health_json(const PageInput& input);
/// Everything the status page shows. No text of a client, no key, no address of a device.
std::string status_json(const PageInput& input);

/// A file of the page, or null.
struct PageFile {
  std::string_view path;
  std::string_view content_type;
  std::string_view content;
};
const PageFile* find_page_file(std::string_view path);
/// The file with the fields that keep the page to itself.
http::Response page_response(const PageFile& file);

}  // namespace layard::gateway
