#include "gateway/child_devices.h"

#include <algorithm>
#include <utility>

#include "gateway/fleet_log.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::int64_t kLookMs = 20;
// From the end by force to the news of it.
constexpr std::int64_t kKilledMs = 5000;

// Nothing where the device is no more, or is somebody else's process by now: what becomes of the
// old one says nothing of that.
std::optional<std::size_t> child_place(const GatewaySetup& setup, const std::string& name) {
  const auto& servers = setup.policy.servers;
  const auto found = std::ranges::find(servers, name, &PolicyDevice::name);
  if (found == servers.end() || found->command.empty()) return std::nullopt;
  return static_cast<std::size_t>(found - servers.begin());
}

// Equal where a device need not be started anew.
std::string fingerprint(const SupervisedChild& child) {
  std::string out = std::to_string(child.port) + "\n" + child.spec.cwd + "\n";
  const auto add = [&](const std::string& text) {
    out += std::to_string(text.size()) + ":" + text;
  };
  for (const std::string& argument : child.spec.argv) add(argument);
  for (const auto& [name, value] : child.spec.environment) {
    add(name);
    add(value);
  }
  return out;
}

}  // namespace

ChildDevices::ChildDevices(GatewayCore& core, const base::Env& env)
    : core_(core), env_(env), supervisor_(supervisor_options()) {}

SupervisorOptions ChildDevices::supervisor_options() {
  SupervisorOptions options;
  options.on_change = [this](const ChildChange& change) { on_change(change); };
  return options;
}

Result<SupervisedChild> ChildDevices::child_of(const GatewaySetup& setup,
                                               std::size_t device) const {
  const PolicyDevice& server = setup.policy.servers[device];
  SupervisedChild child;
  child.device = server.name;
  child.port = static_cast<std::uint16_t>(setup.links[device].upstream.port);
  child.ready_ms = server.ready_ms;
  child.spec.argv = server.command;
  child.spec.cwd = server.cwd;
  child.spec.stop_ms = server.stop_ms;
  LAYARD_ASSIGN(child.spec.environment, child_environment(env_, server.env));
  return child;
}

Status ChildDevices::apply(const GatewaySetup& setup) {
  Status first;
  const auto note = [&first](const std::string& name, const Status& status) {
    if (status.ok() || !first.ok()) return;
    first = Error{status.error().code, "devices." + name + ": " + status.error().message};
  };
  std::map<std::string, SupervisedChild> wanted;
  for (std::size_t i = 0; i < setup.policy.servers.size(); ++i) {
    const PolicyDevice& server = setup.policy.servers[i];
    if (server.command.empty()) continue;
    auto child = child_of(setup, i);
    if (child.ok()) {
      wanted.emplace(server.name, *std::move(child));
    } else {
      note(server.name, child.error());
    }
  }
  std::map<std::string, std::int64_t> stop_ms;  // of those that are stopped
  for (const auto& [name, applied] : applied_) {
    const auto found = wanted.find(name);
    if (found != wanted.end() && fingerprint(found->second) == applied.print) continue;
    note(name, supervisor_.stop(name));
    stop_ms.emplace(name, applied.stop_ms);
  }
  for (const auto& [name, wait_ms] : stop_ms) applied_.erase(name);
  for (auto& [name, child] : wanted) {
    if (applied_.contains(name)) continue;
    const Applied applied{fingerprint(child), child.spec.stop_ms};
    await_end(name, std::max(applied.stop_ms, stop_ms[name]) + kKilledMs);
    const Status status = supervisor_.start(std::move(child));
    note(name, status);
    if (status.ok()) applied_.emplace(name, applied);
  }
  tell_running(setup);
  return first;
}

// A device that is still stopping has its port until it has stopped.
void ChildDevices::await_end(const std::string& device, std::int64_t wait_ms) {
  for (std::int64_t waited_ms = 0; waited_ms < wait_ms; waited_ms += kLookMs) {
    const auto status = supervisor_.status(device);
    if (!status.has_value() || status->state == ChildState::kStopped ||
        status->state == ChildState::kFailed) {
      return;
    }
    core_.clock.sleep_ms(kLookMs, {});
  }
}

// Those that go on running have answered before.
void ChildDevices::tell_running(const GatewaySetup& setup) {
  for (const auto& [name, status] : supervisor_.statuses()) {
    const auto place = child_place(setup, name);
    if (place.has_value() && status.state == ChildState::kRunning) {
      log_fleet_changes(core_.log, setup.policy,
                        setup.fleet->started(*place, core_.clock.now_ns()));
    }
  }
}

std::vector<std::size_t> ChildDevices::unanswered(const GatewaySetup& setup) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < setup.policy.servers.size(); ++i) {
    if (setup.policy.servers[i].command.empty()) continue;
    const auto status = supervisor_.status(setup.policy.servers[i].name);
    if (status.has_value() && status->state == ChildState::kStarting && status->pid > 0) {
      out.push_back(i);
    }
  }
  return out;
}

void ChildDevices::answered(const GatewaySetup& setup, std::size_t device) {
  const std::string& name = setup.policy.servers[device].name;
  const auto status = supervisor_.status(name);
  if (!status.has_value()) return;
  // One that was stopped meanwhile is not ready; it says so itself.
  static_cast<void>(supervisor_.mark_ready(name, status->pid));
}

void ChildDevices::on_change(const ChildChange& change) {
  const bool lost =
      change.status.state == ChildState::kBackingOff || change.status.state == ChildState::kFailed;
  base::EventLog::Values values = {
      {"device", JsonValue::string(change.device)},
      {"state", JsonValue::string(std::string(child_state_name(change.status.state)))},
      {"pid", JsonValue::integer(change.status.pid)}};
  if (!change.status.why.empty()) values.emplace_back("why", JsonValue::string(change.status.why));
  core_.log.event(lost ? base::LogLevel::kWarning : base::LogLevel::kInfo, "child", values);
  const GatewaySetupPtr setup = core_.setup();
  const auto place = child_place(*setup, change.device);
  if (!place.has_value()) return;
  const std::int64_t now_ns = core_.clock.now_ns();
  log_fleet_changes(core_.log, setup->policy,
                    change.status.state == ChildState::kRunning
                        ? setup->fleet->started(*place, now_ns)
                        : setup->fleet->stopped(*place, now_ns));
}

void ChildDevices::stop_all(std::int64_t wait_ms) { supervisor_.stop_all(wait_ms); }

}  // namespace layard::gateway
