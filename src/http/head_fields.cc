#include "http/head_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

namespace layard::http {
namespace {

Refusal refusal_of(RefusalReason reason, std::string_view message) {
  return Refusal{reason, std::string(message)};
}

std::optional<Refusal> read_field(std::string_view line, Fields& fields) {
  if (line.front() == ' ' || line.front() == '\t') {
    return refusal_of(RefusalReason::kField,
                      "a header field is folded over two lines; send it on one line");
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return refusal_of(RefusalReason::kField,
                      "a header line is not `name: value` with a name that is a token");
  }
  auto value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  value.remove_suffix(value.size() - (value.find_last_not_of(" \t") + 1));
  if (!is_field_value(value)) {
    return refusal_of(RefusalReason::kControlByte, "a header field's value holds a control byte");
  }
  fields.add(std::string(line.substr(0, colon)), std::string(value));
  return std::nullopt;
}

std::variant<Framing, Refusal> read_content_length(std::string_view value) {
  const auto* const end = value.data() + value.size();
  std::uint64_t length = 0;
  const auto [stop, error] = std::from_chars(value.data(), end, length);
  const bool digits =
      !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!digits || error != std::errc() || stop != end || length > kMax) {
    return refusal_of(RefusalReason::kContentLength,
                      "Content-Length is not one decimal number below 2^63");
  }
  return Framing{BodyFraming::kLength, length};
}

}  // namespace

std::optional<std::string_view> take_line(std::string_view& rest) {
  const auto end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const auto line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

std::optional<Refusal> read_fields(std::string_view rest, const HeadLimits& limits,
                                   Fields& fields) {
  while (true) {
    const auto line = take_line(rest);
    if (!line) return refusal_of(RefusalReason::kField, "the header does not end in an empty line");
    if (line->empty()) break;
    if (fields.size() == limits.fields_max) {
      return refusal_of(
          RefusalReason::kFieldCount,
          "there are more than " + std::to_string(limits.fields_max) + " header fields");
    }
    if (auto bad = read_field(*line, fields)) return bad;
  }
  if (!rest.empty()) return refusal_of(RefusalReason::kField, "there are bytes after the header");
  return std::nullopt;
}

std::variant<Framing, Refusal> read_framing(const Fields& fields, int version_minor) {
  const auto lengths = fields.count("Content-Length");
  const auto encodings = fields.count("Transfer-Encoding");
  if (encodings > 0) {
    if (lengths > 0) {
      return refusal_of(RefusalReason::kTransferEncoding,
                        "both Transfer-Encoding and Content-Length are there; send one of them");
    }
    if (encodings > 1 || version_minor == 0 ||
        !equal_ignoring_case(fields.value_or_empty("Transfer-Encoding"), "chunked")) {
      return refusal_of(RefusalReason::kTransferEncoding,
                        "Transfer-Encoding may only be `chunked`, once, on HTTP/1.1");
    }
    return Framing{BodyFraming::kChunked, 0};
  }
  if (lengths > 1) {
    return refusal_of(RefusalReason::kContentLength,
                      "there is more than one Content-Length field; send one");
  }
  if (lengths == 0) return Framing{};
  return read_content_length(fields.value_or_empty("Content-Length"));
}

std::optional<Refusal> check_connection(const Fields& fields) {
  for (const Field& field : fields.all()) {
    if (equal_ignoring_case(field.name, "Connection") && !is_token_list(field.value)) {
      return refusal_of(RefusalReason::kField, "a Connection field is not a list of tokens");
    }
  }
  return std::nullopt;
}

bool keeps_connection(const Fields& fields, int version_minor) {
  if (fields.has_token("Connection", "close")) return false;
  return version_minor == 1 || fields.has_token("Connection", "keep-alive");
}

}  // namespace layard::http
