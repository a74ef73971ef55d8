#include "gateway/forward_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace layard::gateway {
namespace {

using http::Field;
using http::Fields;

Fields fields_of(const std::vector<Field>& list) {
  Fields fields;
  for (const Field& field : list) fields.add(field.name, field.value);
  return fields;
}

std::vector<std::string> lines(const Fields& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields.all()) out.push_back(field.name + ": " + field.value);
  return out;
}

constexpr std::string_view kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

UpstreamHeaders ones() {
  UpstreamHeaders add;
  add.random.fill(0x1F);
  return add;
}

TEST(UpstreamFields, OnlyWhatConcernsTheDevicePasses) {
  const std::vector<std::string> dropped = {"Connection",
                                            "Keep-Alive",
                                            "TE",
                                            "Trailer",
                                            "Transfer-Encoding",
                                            "Upgrade",
                                            "Host",
                                            "Content-Length",
                                            "Content-Encoding",
                                            "Expect",
                                            "Authorization",
                                            "X-API-Key",
                                            "api-key",
                                            "Cookie",
                                            "Proxy-Authorization",
                                            "Proxy-Whatever",
                                            "Forwarded",
                                            "X-Forwarded-For",
                                            "x-forwarded-proto",
                                            "X-Real-IP",
                                            "Origin",
                                            "X-Layard-Device",
                                            "x-layard-",
                                            "X-Laya-Route",
                                            "X-1bit-Route",
                                            "x-1BIT-route",
                                            "Content-MD5",
                                            "Digest",
                                            "Tracestate"};
  for (const std::string& name : dropped) {
    const Fields out = upstream_fields(fields_of({{name, "7"}, {"Accept", "*/*"}}), ones());
    EXPECT_FALSE(out.find(name).has_value()) << name;
    EXPECT_EQ(out.value_or_empty("accept"), "*/*") << name;
  }
  for (const char* name : {"Content-Type", "User-Agent", "anthropic-version", "anthropic-beta",
                           "OpenAI-Organization", "X-Session-Id", "X-Request-Id", "X-Layar",
                           "Proxy", "X-Forwarded", "Accept-Encoding", "Cookies"}) {
    const Fields out = upstream_fields(fields_of({{name, "a"}, {name, "b"}}), ones());
    EXPECT_EQ(out.count(name), 2U) << name;
  }
}

TEST(UpstreamFields, WhatConnectionNamesIsDropped) {
  const Fields out = upstream_fields(fields_of({{"X-Hop", "1"},
                                                {"Connection", "close, x-hop"},
                                                {"Connection", "x-other"},
                                                {"X-Other", "2"},
                                                {"X-Kept", "3"}}),
                                     ones());
  EXPECT_FALSE(out.find("x-hop").has_value() || out.find("x-other").has_value());
  EXPECT_EQ(out.value_or_empty("x-kept"), "3");
}

TEST(UpstreamFields, KeysAndCodings) {
  const Fields client = fields_of(
      {{"Authorization", "Bearer client"}, {"x-api-key", "client"}, {"Accept-Encoding", "gzip"}});
  UpstreamHeaders add = ones();
  Fields out = upstream_fields(client, add);
  EXPECT_FALSE(out.find("authorization").has_value() || out.find("x-api-key").has_value());
  EXPECT_EQ(out.value_or_empty("accept-encoding"), "gzip");
  add.device_key = "secret";
  add.rewrites_body = true;
  out = upstream_fields(client, add);
  EXPECT_EQ(out.value_or_empty("authorization"), "Bearer secret");
  EXPECT_EQ(out.count("authorization"), 1U);
  EXPECT_FALSE(out.find("x-api-key").has_value());
  EXPECT_EQ(out.value_or_empty("accept-encoding"), "identity");
  EXPECT_EQ(out.count("accept-encoding"), 1U);
  add.anthropic = true;
  EXPECT_EQ(upstream_fields(client, add).value_or_empty("x-api-key"), "secret");
}

TEST(UpstreamFields, TracesGoOnOrBegin) {
  const std::string begun =
      "00-" + std::string("1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f") + "-1f1f1f1f1f1f1f1f-01";
  const std::string on = "00-0af7651916cd43dd8448eb211c80319c-1f1f1f1f1f1f1f1f-01";
  const auto check = [](const std::vector<Field>& client, std::string_view trace,
                        std::string_view state) {
    const Fields out = upstream_fields(fields_of(client), ones());
    EXPECT_EQ(out.value_or_empty("traceparent"), trace);
    EXPECT_EQ(out.count("traceparent"), 1U);
    EXPECT_EQ(out.value_or_empty("tracestate"), state);
  };
  check({{"tracestate", "a=1"}}, begun, "");
  check({{"Traceparent", std::string(kTrace)}, {"tracestate", "a=1"}}, on, "a=1");
  check({{"traceparent", std::string(kTrace)}, {"traceparent", std::string(kTrace)}}, begun, "");
  check({{"traceparent", "x"}, {"tracestate", "a=1"}}, begun, "");
}

TEST(UpstreamFields, Traceparents) {
  const std::string trace(kTrace);
  const auto changed = [&](std::size_t at, std::string_view with) {
    std::string text = trace;
    text.replace(at, with.size(), with);
    return text;
  };
  const auto continues = [](const std::string& text) {
    return next_traceparent(text, ones().random).continues;
  };
  for (const std::string& good : {trace, changed(0, "01"), changed(0, "cc") + "-more"}) {
    EXPECT_TRUE(continues(good)) << good;
  }
  const std::vector<std::string> bad = {"",
                                        trace.substr(1),
                                        trace.substr(0, 54),
                                        trace + "-x",
                                        trace + "0",
                                        changed(0, "01") + "x",
                                        changed(0, "ff"),
                                        changed(0, "0G"),
                                        changed(2, "_"),
                                        changed(35, "_"),
                                        changed(52, "_"),
                                        changed(3, "A"),
                                        changed(40, "A"),
                                        changed(53, "0x"),
                                        changed(3, std::string(32, '0')),
                                        changed(36, std::string(16, '0'))};
  for (const std::string& text : bad) EXPECT_FALSE(continues(text)) << text;

  const auto flags = [&](std::string_view with) {
    return next_traceparent(changed(53, with), ones().random).text.substr(53);
  };
  EXPECT_EQ(flags("00"), "00");
  EXPECT_EQ(flags("03"), "01");
  EXPECT_EQ(flags("fe"), "00");
  EXPECT_EQ(flags("ff"), "01");
  EXPECT_EQ(next_traceparent(std::nullopt, {}).text,
            "00-00000000000000000000000000000001-0000000000000001-01");
}

TEST(DownstreamFields, OnlyWhatConcernsTheClientPasses) {
  const std::vector<std::string> dropped = {"Connection",
                                            "Keep-Alive",
                                            "Transfer-Encoding",
                                            "Content-Length",
                                            "Upgrade",
                                            "Trailer",
                                            "Set-Cookie",
                                            "X-1bit-Route",
                                            "X-Layard-Decision",
                                            "x-laya-route",
                                            "Date",
                                            "Alt-Svc",
                                            "Access-Control-Allow-Origin",
                                            "Strict-Transport-Security",
                                            "Proxy-Authenticate"};
  for (const std::string& name : dropped) {
    EXPECT_TRUE(downstream_fields(fields_of({{name, "7"}})).empty()) << name;
  }
  const Fields kept = fields_of({{"Content-Type", "application/json"},
                                 {"Content-Encoding", "gzip"},
                                 {"Retry-After", "7"},
                                 {"x-request-id", "a"},
                                 {"x-ratelimit-remaining-tokens", "5"},
                                 {"Vary", "a"},
                                 {"Vary", "b"}});
  EXPECT_EQ(lines(downstream_fields(kept)), lines(kept));
  EXPECT_TRUE(downstream_fields(fields_of({{"Connection", "x-hop"}, {"X-Hop", "1"}})).empty());
}

TEST(DownstreamFields, EventStreamsAreNotBuffered) {
  const auto check = [](const std::vector<Field>& device, const std::vector<std::string>& added) {
    std::vector<std::string> expected = lines(fields_of(device));
    expected.insert(expected.end(), added.begin(), added.end());
    EXPECT_EQ(lines(downstream_fields(fields_of(device))), expected);
  };
  check({{"Content-Type", "text/event-stream"}},
        {"X-Accel-Buffering: no", "Cache-Control: no-cache"});
  check({{"content-type", "Text/Event-Stream; charset=utf-8"}, {"cache-control", "no-store"}},
        {"X-Accel-Buffering: no"});
  check({{"Content-Type", "text/event-stream"}, {"x-accel-buffering", "yes"}},
        {"Cache-Control: no-cache"});
  check({{"Content-Type", "application/json"}}, {});
  check({{"Content-Type", "text/event-streams"}}, {});
  check({}, {});
}

}  // namespace
}  // namespace layard::gateway
