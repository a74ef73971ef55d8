#include "gateway/measure_targets.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/byte_count.h"
#include "base/settings.h"
#include "base/sha256.h"
#include "base/wall_clock.h"
#include "layard/words.h"

namespace layard::gateway {
namespace {

constexpr std::uint64_t kCpuInfoBytesMax = std::uint64_t{4} << 20;
constexpr std::int64_t kDayS = 86400;
constexpr std::int64_t kLastDay = 2932896;  // 9999-12-31

Error refused(const std::string& what) { return {ErrorCode::kInvalidRequest, what}; }

std::vector<std::string> names_of(const RoutePolicy& policy) {
  std::vector<std::string> out;
  for (const PolicyDevice& device : policy.servers) {
    if (!device.url.empty()) out.push_back(device.name);
  }
  return out;
}

Result<MeasureTarget> target_of(const PolicyDevice& device, const base::Env& env,
                                base::Filesystem& files) {
  MeasureTarget out;
  out.device = {device.name, device.url, device.model, 0};
  LAYARD_ASSIGN(out.upstream, http::parse_upstream(device.url));
  out.tls.ca_file = device.ca_file;
  out.connect_ms = device.connect_ms;
  if (device.api_key_env.empty() && device.api_key_file.empty()) return out;
  LAYARD_ASSIGN(out.api_key,
                base::read_key({{}, &env, &files}, device.api_key_env, device.api_key_file));
  if (!out.api_key.empty()) return out;
  return refused("device '" + device.name + "': the variable " + device.api_key_env +
                 " is not set; set it to the device's key");
}

}  // namespace

Result<std::vector<MeasureTarget>> measure_targets(const RoutePolicy& policy,
                                                   const TargetChoice& choice, const base::Env& env,
                                                   base::Filesystem& files) {
  const std::vector<std::string> known = names_of(policy);
  const std::vector<std::string>& names = choice.devices.empty() ? known : choice.devices;
  if (names.empty()) return refused("the policy has no device with a url; add one to \"devices\"");
  if (names.size() > kMeasuredDevicesMax) return refused("at most 64 devices are measured");
  std::set<std::string> seen;
  std::vector<MeasureTarget> out;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return refused("device '" + name + "' is named twice");
    const auto device = std::ranges::find(policy.servers, name, &PolicyDevice::name);
    if (device == policy.servers.end() || device->url.empty()) {
      return refused("device '" + name + "' has no url in the policy; those that have one: " +
                     (known.empty() ? "none" : listed(known)) + did_you_mean(name, known));
    }
    LAYARD_ASSIGN(MeasureTarget target, target_of(*device, env, files));
    const auto bytes = choice.resident_bytes.find(name);
    if (bytes != choice.resident_bytes.end()) {
      target.device.resident_bytes = static_cast<double>(bytes->second);
    }
    out.push_back(std::move(target));
  }
  for (const auto& [name, bytes] : choice.resident_bytes) {
    if (!seen.contains(name)) return refused("memory is given for '" + name + "', not measured");
  }
  return out;
}

Result<std::vector<MeasureTarget>> measure_targets(const RoutePolicy& policy,
                                                   const TargetChoice& choice) {
  return measure_targets(policy, choice, base::ProcessEnv(), base::real_filesystem());
}

Result<std::uint64_t> resident_size(std::string_view text) { return base::parse_byte_count(text); }

Status check_model_hash(std::string_view text) {
  if (base::is_sha256_hex(text)) return {};
  return refused("a model's hash is 64 hex digits in lower case (sha256sum FILE)");
}

std::string profile_text(std::string_view cpuinfo, unsigned threads) {
  std::string name = "unknown processor";
  const std::size_t at = cpuinfo.find("model name");
  if (at != cpuinfo.npos) {
    const std::string_view line = cpuinfo.substr(at, cpuinfo.find('\n', at) - at);
    const std::size_t value = line.find(": ");
    if (value != line.npos) name = line.substr(value + 2);
  }
  return name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

std::string machine_profile() {
  const auto text = base::real_filesystem().read_text("/proc/cpuinfo", kCpuInfoBytesMax);
  return profile_text(text.ok() ? *text : "", std::thread::hardware_concurrency());
}

std::string date_text(std::int64_t unix_time_s) {
  const std::int64_t day = std::clamp<std::int64_t>(unix_time_s / kDayS, 0, kLastDay);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const auto digits = [](std::string text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), '0') + text;
  };
  return digits(std::to_string(static_cast<int>(date.year())), 4) + "-" +
         digits(std::to_string(static_cast<unsigned>(date.month())), 2) + "-" +
         digits(std::to_string(static_cast<unsigned>(date.day())), 2);
}

std::string date_today() { return date_text(base::unix_time_s()); }

}  // namespace layard::gateway
