#include "gateway/child_devices.h"

#include <algorithm>
#include <utility>

#include "gateway/fleet_log.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

std::optional<std::size_t> place_of(const GatewaySetup& setup, const std::string& name) {
  const auto& servers = setup.policy.servers;
  const auto found = std::ranges::find(servers, name, &PolicyDevice::name);
  if (found == servers.end()) return std::nullopt;
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

SupervisorOptions reporting_to(std::function<void(const ChildChange&)> on_change) {
  SupervisorOptions out;
  out.on_change = std::move(on_change);
  return out;
}

}  // namespace

ChildDevices::ChildDevices(GatewayCore& core, const base::Env& env)
    : core_(core), env_(env), supervisor_(reporting_to(change_hook())) {}

std::function<void(const ChildChange&)> ChildDevices::change_hook() {
  return [this](const ChildChange& change) { on_change(change); };
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
  std::map<std::string, std::string> wanted;
  std::vector<SupervisedChild> changed;
  for (std::size_t i = 0; i < setup.policy.servers.size(); ++i) {
    const PolicyDevice& server = setup.policy.servers[i];
    if (server.command.empty()) continue;
    LAYARD_ASSIGN(SupervisedChild child, child_of(setup, i));
    const std::string print = fingerprint(child);
    wanted.emplace(server.name, print);
    const auto before = applied_.find(server.name);
    if (before == applied_.end() || before->second != print) changed.push_back(std::move(child));
  }
  for (const auto& [name, print] : applied_) {
    const auto found = wanted.find(name);
    if (found == wanted.end() || found->second != print) {
      LAYARD_TRY(supervisor_.stop(name));
    }
  }
  for (SupervisedChild& child : changed) {
    // A device that is still stopping has its port until it has stopped.
    for (int i = 0; i < 600; ++i) {
      const auto status = supervisor_.status(child.device);
      if (!status.has_value() || status->state == ChildState::kStopped ||
          status->state == ChildState::kFailed) {
        break;
      }
      core_.clock.sleep_ms(20, {});
    }
    const std::string name = child.device;
    const Status status = supervisor_.start(std::move(child));
    if (!status.ok()) {
      return Error{status.error().code, "devices." + name + ": " + status.error().message};
    }
  }
  applied_ = std::move(wanted);
  // Those that go on running have answered before.
  for (const auto& [name, status] : supervisor_.statuses()) {
    const auto place = place_of(setup, name);
    if (place.has_value() && status.state == ChildState::kRunning) {
      log_fleet_changes(core_.log, setup.policy,
                        setup.fleet->started(*place, core_.clock.now_ns()));
    }
  }
  return {};
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
  const auto place = place_of(*setup, change.device);
  if (!place.has_value()) return;
  const std::int64_t now_ns = core_.clock.now_ns();
  log_fleet_changes(core_.log, setup->policy,
                    change.status.state == ChildState::kRunning
                        ? setup->fleet->started(*place, now_ns)
                        : setup->fleet->stopped(*place, now_ns));
}

void ChildDevices::stop_all(std::int64_t wait_ms) { supervisor_.stop_all(wait_ms); }

}  // namespace layard::gateway
