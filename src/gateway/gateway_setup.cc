#include "gateway/gateway_setup.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/settings.h"
#include "base/wall_clock.h"
#include "gateway/child_spec.h"
#include "gateway/policy_text.h"
#include "http/loop.h"

namespace layard::gateway {
namespace {

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

// A limit of the policy as the client has it, which knows no "none".
std::int64_t limit_ms(std::int64_t value) {
  constexpr std::int64_t kNoneMs = 7LL * 24 * 60 * 60 * 1000;
  return value == 0 ? kNoneMs : value;
}

http::ClientOptions client_options(const PolicyDevice& device) {
  http::ClientOptions options;
  options.connect_ms = limit_ms(device.connect_ms);
  options.write_ms = limit_ms(device.write_ms);
  options.head_ms = limit_ms(device.first_byte_ms);
  options.idle_ms = limit_ms(device.idle_ms);
  options.total_ms = device.total_ms;
  return options;
}

Error at_member(const PolicyDevice& device, const std::string& member, const Error& error) {
  return {error.code, "devices." + device.name + "." + member + ": " + error.message};
}

Result<std::string> key_of(const PolicyDevice& device, const SetupSource& source) {
  if (device.api_key_env.empty() && device.api_key_file.empty()) return std::string();
  auto key =
      base::read_key({{}, source.env, source.files}, device.api_key_env, device.api_key_file);
  if (!key.ok()) {
    return at_member(device, device.api_key_env.empty() ? "api_key_file" : "api_key_env",
                     key.error());
  }
  if (key->empty()) {
    return invalid("devices." + device.name + ".api_key_env: the variable " + device.api_key_env +
                   " is not set; set it to the device's key");
  }
  return key;
}

Result<DeviceLink> link_of(const PolicyDevice& device, const SetupSource& source) {
  DeviceLink link;
  auto upstream = http::parse_upstream(device.url);
  if (!upstream.ok()) return at_member(device, "url", upstream.error());
  link.upstream = *std::move(upstream);
  link.client = client_options(device);
  link.tls.ca_file = device.ca_file;
  if (!device.ca_file.empty()) {
    // Looked at now: a file that is wrong is no device's failure later on.
    const auto loop = http::SocketLoop::create();
    const auto dialer = http::make_dialer(*loop, link.tls);
    if (!dialer.ok()) {
      return invalid("devices." + device.name + "." + dialer.error().message);
    }
  }
  link.client_key = link.upstream.origin() + " " + device.ca_file;
  for (const std::int64_t value :
       {link.client.connect_ms, link.client.write_ms, link.client.head_ms, link.client.idle_ms,
        link.client.total_ms}) {
    link.client_key += " " + std::to_string(value);
  }
  LAYARD_ASSIGN(link.api_key, key_of(device, source));
  return link;
}

// Devices of the command line: others, or addresses of those that the policy leaves without.
void add_backends(const std::vector<std::string>& backends, RoutePolicy& policy) {
  for (const std::string& text : backends) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    auto found = std::ranges::find(policy.servers, name, &PolicyDevice::name);
    if (found == policy.servers.end()) {
      policy.servers.emplace_back().name = name;
      found = policy.servers.end() - 1;
    }
    found->url = text.substr(equals + 1);
  }
}

// Only what has an address can be a candidate.
void drop_unreachable(GatewaySetup& setup) {
  auto& servers = setup.policy.servers;
  std::vector<std::string> names = setup.policy.devices();
  for (const PolicyDevice& device : servers) {
    if (std::ranges::find(names, device.name) == names.end()) names.push_back(device.name);
  }
  for (const std::string& name : names) {
    const auto found = std::ranges::find(servers, name, &PolicyDevice::name);
    if (found == servers.end() || found->url.empty()) {
      setup.warnings.push_back(name + " is not a candidate: it has no url");
    }
  }
  std::erase_if(servers, [](const PolicyDevice& device) { return device.url.empty(); });
}

Result<std::size_t> place_of(const GatewaySetup& setup, const std::string& name,
                             const std::string& what) {
  const auto& servers = setup.policy.servers;
  const auto found = std::ranges::find(servers, name, &PolicyDevice::name);
  if (found == servers.end()) {
    return invalid(what + ": '" + name + "' has no url; there are " + listed(setup.device_names()));
  }
  return static_cast<std::size_t>(found - servers.begin());
}

}  // namespace

std::vector<std::string> GatewaySetup::device_names() const {
  std::vector<std::string> out;
  for (const PolicyDevice& device : policy.servers) out.push_back(device.name);
  return out;
}

Result<GatewaySetupPtr> make_setup(const SetupSource& source) {
  auto setup = std::make_shared<GatewaySetup>();
  setup->source = source.policy_file;
  LAYARD_ASSIGN(const std::string text,
                source.files->read_text(source.policy_file, kPolicyBytesMax));
  LAYARD_ASSIGN(setup->policy, RoutePolicy::parse(text, source.policy_file));
  setup->hash = policy_hash(text);
  setup->loaded_ms = base::unix_time_s() * 1000;
  add_backends(source.backends, setup->policy);
  if (setup->policy.servers.size() > kPolicyEntriesMax) {
    return invalid(source.policy_file + ": with those of --backend there are more than " +
                   std::to_string(kPolicyEntriesMax) + " devices");
  }
  drop_unreachable(*setup);
  if (setup->policy.servers.empty()) {
    return invalid(source.policy_file +
                   ": no device has a url; give each one under devices, or with --backend "
                   "NAME=URL");
  }
  LAYARD_ASSIGN(setup->question, RouteQuestion::make(setup->policy));
  for (const PolicyDevice& device : setup->policy.servers) {
    LAYARD_ASSIGN(DeviceLink link, link_of(device, source));
    setup->links.push_back(std::move(link));
  }
  if (source.device != "auto") {
    LAYARD_ASSIGN(setup->forced_device, place_of(*setup, source.device, "--device"));
  }
  setup->fleet = std::make_shared<Fleet>(setup->policy, FleetOptions{});
  return GatewaySetupPtr(std::move(setup));
}

Result<GatewaySetupPtr> setup_from_process(const GatewayOptions& options) {
  const base::ProcessEnv env;
  LAYARD_ASSIGN(GatewaySetupPtr setup,
                make_setup({options.policy_file, options.backends, options.device, &env,
                            &base::real_filesystem()}));
  // What would keep a child from being started is told before anything is.
  for (const PolicyDevice& device : setup->policy.servers) {
    if (device.command.empty()) continue;
    const auto variables = child_environment(env, device.env);
    if (!variables.ok()) {
      return invalid("devices." + device.name + ".env: " + variables.error().message);
    }
  }
  return setup;
}

}  // namespace layard::gateway
