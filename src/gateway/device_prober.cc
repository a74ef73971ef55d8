#include "gateway/device_prober.h"

#include <utility>

#include "gateway/fleet_log.h"

namespace layard::gateway {
namespace {

// A device's health page is a few words; more is not read.
constexpr std::size_t kAnswerBytesMax = 64 * 1024;

// The same address with the probe's own limits.
DeviceLink probe_link(const GatewaySetup& setup, std::size_t device) {
  DeviceLink link = setup.links[device];
  const std::int64_t limit_ms = setup.policy.servers[device].health.timeout_ms;
  link.client.connect_ms = limit_ms;
  link.client.head_ms = limit_ms;
  link.client.idle_ms = limit_ms;
  link.client.total_ms = limit_ms;
  link.client_key += " probe " + std::to_string(limit_ms);
  return link;
}

}  // namespace

void DeviceProber::start(GatewayLoop& loop) { tick(loop); }

void DeviceProber::tick(GatewayLoop& loop) {
  if (stopped_) return;
  const GatewaySetupPtr setup = core_.setup();
  const std::int64_t now_ns = core_.clock.now_ns();
  log_fleet_changes(core_.log, setup->policy, setup->fleet->tick(now_ns));
  for (const std::size_t device : setup->fleet->take_due_probes(now_ns)) {
    probe(loop, setup, device);
  }
  if (children_ != nullptr) {
    for (const std::size_t device : children_->unanswered(*setup)) {
      if (asking_.insert(device).second) probe_child(loop, setup, device);
    }
  }
  loop.loop().call_after(kTickMs, [this, &loop] { tick(loop); });
}

http::Detached DeviceProber::probe(GatewayLoop& loop, GatewaySetupPtr setup, std::size_t device) {
  loop.begin_call();
  bool passed = false;
  try {
    passed = co_await ask(loop, *setup, device);
  } catch (...) {
    // Without memory to ask there is no answer.
  }
  log_fleet_changes(core_.log, setup->policy,
                    setup->fleet->probed(device, passed, core_.clock.now_ns()));
  setup.reset();
  loop.end_call();
}

// The fleet does not probe what is starting.
http::Detached DeviceProber::probe_child(GatewayLoop& loop, GatewaySetupPtr setup,
                                         std::size_t device) {
  loop.begin_call();
  bool passed = false;
  try {
    passed = co_await ask(loop, *setup, device);
  } catch (...) {
    // As above.
  }
  asking_.erase(device);
  if (passed && !stopped_) children_->answered(*setup, device);
  setup.reset();
  loop.end_call();
}

http::Task<bool> DeviceProber::ask(GatewayLoop& loop, const GatewaySetup& setup,
                                   std::size_t device) {
  const DeviceLink link = probe_link(setup, device);
  auto client = loop.client(link);
  if (!client.ok()) co_return false;
  http::ClientRequest request;
  request.target = setup.policy.servers[device].health.path;
  request.fields.add("Accept", "*/*");
  if (!link.api_key.empty()) request.fields.add("Authorization", "Bearer " + link.api_key);
  http::ClientResult result = co_await (*client)->send(link.upstream, std::move(request));
  auto* response = std::get_if<http::ClientResponse>(&result);
  if (response == nullptr) co_return false;
  const bool is_good = response->status >= 200 && response->status < 400;
  // To the end, so that the connection can be used for the next probe.
  std::size_t bytes = 0;
  while (bytes < kAnswerBytesMax) {
    const http::BodyRead piece = co_await response->read();
    if (piece.state != http::BodyRead::State::kData) break;
    bytes += piece.bytes.size();
  }
  co_return is_good;
}

}  // namespace layard::gateway
