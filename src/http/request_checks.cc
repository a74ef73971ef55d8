#include "http/request_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "http/target.h"

namespace layard::http {
namespace {

constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

Refusal refusal_of(RefusalReason reason, std::string_view message) {
  return Refusal{reason, std::string(message)};
}

std::optional<Refusal> read_version(std::string_view version, Request& request) {
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    request.version_minor = version.back() - '0';
    return std::nullopt;
  }
  if (version.starts_with("HTTP/")) {
    return refusal_of(RefusalReason::kVersion,
                      "the request is of another HTTP version; send HTTP/1.1");
  }
  return refusal_of(RefusalReason::kRequestLine,
                    "the request line does not end in HTTP/1.1; send METHOD /path HTTP/1.1");
}

std::optional<Refusal> read_target(std::string_view target, const HeadLimits& limits,
                                   Request& request) {
  if (target.size() > limits.target_bytes_max) {
    return refusal_of(RefusalReason::kTargetSize, "the request's path and query are over " +
                                                      std::to_string(limits.target_bytes_max) +
                                                      " bytes; send less in the query");
  }
  if (!target.starts_with('/')) {
    return refusal_of(RefusalReason::kTarget,
                      "the request target does not begin with '/'; this server is not a proxy");
  }
  const bool plain =
      std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (!plain) {
    return refusal_of(RefusalReason::kTarget,
                      "the request target holds bytes that must be percent-encoded");
  }
  request.target = target;
  return std::nullopt;
}

std::optional<Refusal> read_request_line(std::string_view line, const HeadLimits& limits,
                                         Request& request) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refusal_of(RefusalReason::kRequestLine,
                      "the request line is not METHOD, target and version with one space between");
  }
  request.method = line.substr(0, first);
  if (!is_token(request.method)) {
    return refusal_of(RefusalReason::kRequestLine, "the request's method is not a token");
  }
  const auto bad_version = read_version(line.substr(last + 1), request);
  if (bad_version) return bad_version;
  return read_target(line.substr(first + 1, last - first - 1), limits, request);
}

std::optional<Refusal> check_host(const Request& request) {
  const auto hosts = request.fields.count("Host");
  if (hosts > 1) {
    return refusal_of(RefusalReason::kHost, "there is more than one Host field; send exactly one");
  }
  if (hosts == 0) {
    if (request.version_minor == 0) return std::nullopt;
    return refusal_of(RefusalReason::kHost, "there is no Host field; HTTP/1.1 needs exactly one");
  }
  if (!parse_host(request.fields.value_or_empty("Host"))) {
    return refusal_of(RefusalReason::kHost,
                      "the Host field is not a host name with perhaps a port");
  }
  return std::nullopt;
}

std::optional<Refusal> read_wishes(RequestHead& head) {
  const Fields& fields = head.request.fields;
  if (fields.find("Upgrade")) {
    return refusal_of(RefusalReason::kUpgrade,
                      "this server does not change protocols; set the client to HTTP/1.1");
  }
  const auto expectations = fields.count("Expect");
  if (expectations > 1 || (expectations == 1 &&
                           !equal_ignoring_case(fields.value_or_empty("Expect"), "100-continue"))) {
    return refusal_of(RefusalReason::kExpectation, "Expect may only be `100-continue`");
  }
  // An HTTP/1.0 client does not know the interim response (RFC 9110, 10.1.1).
  head.expects_continue = expectations == 1 && head.request.version_minor == 1;
  if (auto bad = check_connection(fields)) return bad;
  head.keep_alive = keeps_connection(fields, head.request.version_minor);
  return std::nullopt;
}

}  // namespace

HeadScanner::State HeadScanner::refuse(RefusalReason reason, std::string_view message) {
  refusal_ = refusal_of(reason, message);
  return State::kRefused;
}

HeadScanner::State HeadScanner::end_line() {
  if (line_bytes_ > 0) {
    line_bytes_ = 0;
    ++lines_;
    if (lines_ > limits_.fields_max + 1) {
      return refuse(RefusalReason::kFieldCount,
                    "there are more than " + std::to_string(limits_.fields_max) + " header fields");
    }
    return State::kMore;
  }
  if (lines_ > 0) return State::kDone;
  if (begin_ > 0 || kind_ == HeadKind::kResponse) {
    return refuse(RefusalReason::kRequestLine, "there are empty lines before the first line");
  }
  begin_ = position_;
  return State::kMore;
}

HeadScanner::State HeadScanner::refuse_first(char c) {
  // A handshake's record, and the alert with which a TLS server answers plain bytes.
  if (kind_ == HeadKind::kRequest && c == 0x16) {
    return refuse(RefusalReason::kControlByte,
                  "the connection begins like TLS; this port speaks plain HTTP, use http://");
  }
  if (kind_ == HeadKind::kResponse && (c == 0x15 || c == 0x16)) {
    return refuse(RefusalReason::kControlByte,
                  "the answer begins like TLS; that port does not speak plain HTTP, use https://");
  }
  if (is_control(c)) return refuse(RefusalReason::kControlByte, "the header holds a control byte");
  return refuse(RefusalReason::kRequestLine, kind_ == HeadKind::kRequest
                                                 ? "the request does not begin with a method"
                                                 : "the answer does not begin with HTTP/");
}

HeadScanner::State HeadScanner::look_at(char c) {
  if (after_cr_) {
    after_cr_ = false;
    if (c == '\n') return end_line();
    return refuse(RefusalReason::kControlByte, "a carriage return stands alone in the header");
  }
  if (c == '\r') {
    after_cr_ = true;
    return State::kMore;
  }
  if (is_control(c) && c != '\t') {
    if (lines_ == 0 && line_bytes_ == 0) return refuse_first(c);
    return refuse(RefusalReason::kControlByte, "the header holds a control byte");
  }
  if (lines_ == 0 && line_bytes_ == 0 && !is_token(std::string_view(&c, 1))) {
    return refuse_first(c);
  }
  ++line_bytes_;
  return State::kMore;
}

HeadScanner::State HeadScanner::scan(std::string_view bytes) {
  while (position_ < bytes.size()) {
    if (position_ - begin_ >= limits_.head_bytes_max) {
      return refuse(RefusalReason::kHeadSize,
                    "the header is over " + std::to_string(limits_.head_bytes_max) + " bytes");
    }
    const State state = look_at(bytes[position_++]);
    if (state != State::kMore) return state;
  }
  return State::kMore;
}

std::variant<RequestHead, Refusal> check_request_head(std::string_view head,
                                                      const HeadLimits& limits) {
  RequestHead result;
  std::string_view rest = head;
  const auto first = take_line(rest);
  if (!first) return refusal_of(RefusalReason::kRequestLine, "the header has no request line");
  if (std::ranges::any_of(*first, is_control)) {
    return refusal_of(RefusalReason::kControlByte, "the request line holds a control byte");
  }
  if (auto bad = read_request_line(*first, limits, result.request)) return std::move(*bad);
  if (auto bad = read_fields(rest, limits, result.request.fields)) return std::move(*bad);
  if (auto bad = check_host(result.request)) return std::move(*bad);
  auto framing = read_framing(result.request.fields, result.request.version_minor);
  if (auto* bad = std::get_if<Refusal>(&framing)) return std::move(*bad);
  result.framing = std::get<Framing>(framing).framing;
  result.content_length = std::get<Framing>(framing).content_length;
  if (auto bad = read_wishes(result)) return std::move(*bad);
  return result;
}

std::optional<ContentCoding> content_coding(const Fields& fields) {
  const auto count = fields.count("Content-Encoding");
  if (count == 0) return ContentCoding::kIdentity;
  if (count > 1) return std::nullopt;
  const auto value = fields.value_or_empty("Content-Encoding");
  if (equal_ignoring_case(value, "identity")) return ContentCoding::kIdentity;
  if (equal_ignoring_case(value, "gzip") || equal_ignoring_case(value, "x-gzip")) {
    return ContentCoding::kGzip;
  }
  if (equal_ignoring_case(value, "zstd")) return ContentCoding::kZstd;
  return std::nullopt;
}

}  // namespace layard::http
