#include "gateway/gateway_core.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/checks.h"
#include "base/wall_clock.h"
#include "http/host_rules.h"

namespace layard::gateway {
namespace {

constexpr std::size_t kCallersRemembered = 4096;

ConversationHasher::Secret new_secret() {
  ConversationHasher::Secret secret{};
  // Without random bytes conversations' keys could be guessed: better not to serve.
  LAYARD_CHECK(fill_random(secret.data(), secret.size()).ok());
  return secret;
}

std::string new_prefix() {
  std::array<std::uint8_t, 4> bytes{};
  LAYARD_CHECK(fill_random(bytes.data(), bytes.size()).ok());
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "gw%02x%02x%02x%02x-", bytes[0], bytes[1], bytes[2],
                bytes[3]);
  return text.data();
}

StickyLimits sticky_limits(const RoutePolicy& policy) {
  StickyLimits limits;
  limits.ttl_s = policy.sticky.ttl_s;
  limits.entries_max = static_cast<std::size_t>(policy.sticky.max_entries);
  return limits;
}

}  // namespace

Status fill_random(std::uint8_t* bytes, std::size_t count) {
  while (count > 0) {
    const auto got = ::getrandom(bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorCode::kIo, "the system gives no random bytes"};
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

GatewayCore::GatewayCore(const GatewayOptions& options_, GatewaySetupPtr setup,
                         ClassSource* classes_, DecisionLog* decisions_, const base::EventLog& log_)
    : options(options_),
      log(log_),
      classes(classes_),
      decisions(decisions_),
      callers(http::is_loopback_host(options_.http.host), options_.allowed_hosts, options_.keys),
      hasher(new_secret()),
      limiter(kCallersRemembered),
      sticky(sticky_limits(setup->policy)),
      id_prefix_(new_prefix()),
      setup_(std::move(setup)) {}

GatewaySetupPtr GatewayCore::setup() const {
  const std::lock_guard lock(mutex_);
  return setup_;
}

void GatewayCore::replace_setup(GatewaySetupPtr setup) {
  const std::lock_guard lock(mutex_);
  setup_.swap(setup);
  reload_.time_ms = base::unix_time_s() * 1000;
  reload_.error.clear();
  ++reload_.taken;
}

void GatewayCore::refuse_setup(std::string error) {
  const std::lock_guard lock(mutex_);
  reload_.time_ms = base::unix_time_s() * 1000;
  reload_.error = std::move(error);
  ++reload_.refused;
}

ReloadState GatewayCore::reload_state() const {
  const std::lock_guard lock(mutex_);
  return reload_;
}

std::string GatewayCore::next_request_id() { return id_prefix_ + std::to_string(++last_id_); }

std::array<std::uint8_t, 24> GatewayCore::random_bytes() {
  std::array<std::uint8_t, 24> bytes{};
  // Names of traces alone depend on it.
  static_cast<void>(fill_random(bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace layard::gateway
