#include "gateway/forward_fields.h"

#include <algorithm>
#include <span>

#include "http/target.h"

namespace layard::gateway {
namespace {

using Names = std::span<const std::string_view>;

// Of one connection, both ways; what the gateway says itself; digests of a body that changes.
constexpr std::array<std::string_view, 16> kNeverForwarded = {"connection",
                                                              "keep-alive",
                                                              "te",
                                                              "trailer",
                                                              "transfer-encoding",
                                                              "upgrade",
                                                              "proxy-connection",
                                                              "content-length",
                                                              "x-1bit-route",
                                                              "content-md5",
                                                              "content-digest",
                                                              "repr-digest",
                                                              "digest",
                                                              "http2-settings",
                                                              "alt-used",
                                                              "expect"};
constexpr std::array<std::string_view, 2> kOwnPrefixes = {"x-layard-", "x-laya-"};

// Credentials under any name that is common: whose they are, they are not for the device.
constexpr std::array<std::string_view, 18> kOfTheClient = {"host",
                                                           "content-encoding",
                                                           "authorization",
                                                           "x-api-key",
                                                           "api-key",
                                                           "cookie",
                                                           "origin",
                                                           "referer",
                                                           "forwarded",
                                                           "x-real-ip",
                                                           "traceparent",
                                                           "tracestate",
                                                           "x-goog-api-key",
                                                           "x-auth-token",
                                                           "x-access-token",
                                                           "ocp-apim-subscription-key",
                                                           "x-amz-security-token",
                                                           "cf-access-jwt-assertion"};
constexpr std::array<std::string_view, 2> kClientPrefixes = {"proxy-", "x-forwarded-"};

constexpr std::array<std::string_view, 5> kOfTheDevice = {
    "set-cookie", "date", "alt-svc", "clear-site-data", "strict-transport-security"};
constexpr std::array<std::string_view, 2> kDevicePrefixes = {"access-control-", "proxy-"};

bool is_any(std::string_view name, Names names) {
  return std::ranges::any_of(
      names, [&](std::string_view other) { return http::equal_ignoring_case(name, other); });
}

bool begins_with_any(std::string_view name, Names prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
    return http::equal_ignoring_case(name.substr(0, prefix.size()), prefix);
  });
}

http::Fields without(const http::Fields& fields, Names names, Names prefixes) {
  http::Fields out;
  for (const http::Field& field : fields.all()) {
    const std::string_view name = field.name;
    const bool dropped = is_any(name, kNeverForwarded) || begins_with_any(name, kOwnPrefixes) ||
                         is_any(name, names) || begins_with_any(name, prefixes) ||
                         fields.has_token("Connection", name);
    if (!dropped) out.add(field.name, field.value);
  }
  return out;
}

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

// `00-TRACE-PARENT-FLAGS`; a later version may have more after another dash.
bool is_traceparent(std::string_view text) {
  constexpr std::size_t kBytes = 55;
  if (text.size() < kBytes) return false;
  const std::string_view version = text.substr(0, 2);
  if (!is_lower_hex(version) || version == "ff") return false;
  if (text.size() > kBytes && (version == "00" || text[kBytes] != '-')) return false;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  return is_lower_hex(trace) && !is_zero(trace) && is_lower_hex(parent) && !is_zero(parent) &&
         is_lower_hex(text.substr(53, 2));
}

// Hex digits of random bytes; never all zero, which no name may be.
std::string random_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  if (is_zero(text)) text.back() = '1';
  return text;
}

}  // namespace

TraceParent next_traceparent(std::optional<std::string_view> client,
                             const std::array<std::uint8_t, 24>& random) {
  const std::string parent = random_hex(std::span(random).last(8));
  if (client && is_traceparent(*client)) {
    const char flags = client->at(54);
    const bool sampled = ((flags <= '9' ? flags - '0' : flags - 'a' + 10) & 1) != 0;
    return {"00-" + std::string(client->substr(3, 32)) + "-" + parent + (sampled ? "-01" : "-00"),
            true};
  }
  return {"00-" + random_hex(std::span(random).first(16)) + "-" + parent + "-01", false};
}

http::Fields upstream_fields(const http::Fields& client, const UpstreamHeaders& add) {
  http::Fields out = without(client, kOfTheClient, kClientPrefixes);
  if (add.rewrites_body) out.set("Accept-Encoding", "identity");
  const bool one = client.count("traceparent") == 1;
  TraceParent trace = next_traceparent(one ? client.find("traceparent") : std::nullopt, add.random);
  out.set("traceparent", std::move(trace.text));
  if (trace.continues) {
    for (const http::Field& field : client.all()) {
      if (http::equal_ignoring_case(field.name, "tracestate")) out.add(field.name, field.value);
    }
  }
  if (!add.device_key.empty()) {
    out.set("Authorization", "Bearer " + add.device_key);
    if (add.anthropic) out.set("x-api-key", add.device_key);
  }
  return out;
}

http::Fields downstream_fields(const http::Fields& device) {
  http::Fields out = without(device, kOfTheDevice, kDevicePrefixes);
  if (is_event_stream(device)) {
    if (!out.find("X-Accel-Buffering")) out.add("X-Accel-Buffering", "no");
    if (!out.find("Cache-Control")) out.add("Cache-Control", "no-cache");
  }
  return out;
}

bool is_event_stream(const http::Fields& reply) {
  return http::is_media_type(reply.value_or_empty("Content-Type"), "text/event-stream");
}

}  // namespace layard::gateway
