#include "http/client_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace layard::http {
namespace {

constexpr std::array<std::string_view, kClientFaults> kFaultNames = {
    "request",         "unresolved",    "refused",         "unreachable",
    "connect_timeout", "tls",           "write_timeout",   "head_timeout",
    "idle_timeout",    "total_timeout", "connection_lost", "bad_response",
    "cut_short",       "body_source",   "limit",           "cancelled",
};

bool is_clients_own(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 10> kOwn = {
      "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive",
      "TE",   "Trailer",        "Proxy-Connection",  "Upgrade",    "Expect"};
  return std::ranges::any_of(kOwn,
                             [&](std::string_view own) { return equal_ignoring_case(own, name); });
}

ClientError bad_request(std::string what) {
  return {ClientFault::kRequest, "the request cannot be sent: " + std::move(what), false};
}

std::optional<ClientError> check_line(const ClientRequest& request, const Upstream& upstream,
                                      const HeadLimits& limits) {
  if (!is_token(request.method) || request.method == "CONNECT") {
    return bad_request("its method is not one that this client sends");
  }
  const auto& target = request.target;
  const bool plain = target.starts_with('/') && std::ranges::all_of(target, [](char c) {
                       return c > 0x20 && c < 0x7f && c != '#';
                     });
  if (!plain) {
    return bad_request("its target must begin with '/' and be percent-encoded, without a fragment");
  }
  if (upstream.path.size() + target.size() > limits.target_bytes_max) {
    return bad_request("its target is over " + std::to_string(limits.target_bytes_max) + " bytes");
  }
  return std::nullopt;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_framing(std::string& out, const ClientRequest& request, bool chunked) {
  const auto& method = request.method;
  const bool expects_body = method == "POST" || method == "PUT" || method == "PATCH";
  if (chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  } else if (request.source) {
    append_field(out, "Content-Length", std::to_string(*request.source_bytes));
  } else if (!request.body.empty() || expects_body) {
    append_field(out, "Content-Length", std::to_string(request.body.size()));
  }
}

}  // namespace

std::string_view client_fault_name(ClientFault fault) noexcept {
  return kFaultNames[static_cast<std::size_t>(fault)];
}

std::variant<RequestHeadBytes, ClientError> write_request_head(const ClientRequest& request,
                                                               const Upstream& upstream,
                                                               const ClientOptions& options) {
  if (auto bad = check_line(request, upstream, options.head)) return std::move(*bad);
  RequestHeadBytes head;
  head.chunked = request.source && !request.source_bytes;
  std::string& out = head.bytes;
  out.append(request.method).append(" ").append(upstream.path).append(request.target);
  out.append(" HTTP/1.1\r\n");
  append_field(out, "Host", upstream.host_field());
  for (const Field& field : request.fields.all()) {
    if (!is_token(field.name)) return bad_request("a field's name is not a token");
    if (is_clients_own(field.name)) continue;
    if (!is_field_value(field.value)) {
      return bad_request("the value of the field " + field.name +
                         " holds a control byte, or a space at an end");
    }
    append_field(out, field.name, field.value);
  }
  append_framing(out, request, head.chunked);
  if (options.kept_per_upstream_max == 0) append_field(out, "Connection", "close");
  out.append("\r\n");
  if (out.size() > options.request_head_bytes_max) {
    return bad_request("its header is over " + std::to_string(options.request_head_bytes_max) +
                       " bytes");
  }
  return head;
}

bool is_repeatable(const ClientRequest& request) noexcept {
  const auto& method = request.method;
  return (method == "GET" || method == "HEAD" || method == "OPTIONS") && request.body.empty() &&
         !request.source;
}

}  // namespace layard::http
