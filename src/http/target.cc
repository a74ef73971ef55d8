#include "http/target.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "http/message.h"

namespace layard::http {
namespace {

constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return invalid("a `%` in the request target is not followed by two hex digits");
    }
    const char byte = static_cast<char>(high * 16 + low);
    if (byte == '\0') return invalid("the request target holds an encoded NUL");
    decoded += byte;
    i += 2;
  }
  return decoded;
}

// The text before the next `mark`, which is taken off the front of `rest` together with it.
std::string_view take_piece(std::string_view& rest, char mark) {
  const auto end = std::min(rest.find(mark), rest.size());
  const auto piece = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return piece;
}

bool is_name_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
}

bool is_ipv6_byte(char c) { return hex_digit(c) >= 0 || c == ':' || c == '.'; }

}  // namespace

Result<std::string> percent_decode(std::string_view text) { return decode(text, false); }

Result<std::vector<std::string>> path_segments(std::string_view path, std::size_t segments_max) {
  std::vector<std::string> segments;
  if (!path.starts_with('/')) return invalid("the path does not begin with '/'");
  if (path == "/") return segments;
  std::size_t begin = 1;
  while (true) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (segments.size() == segments_max) {
      return invalid("the path has more than " + std::to_string(segments_max) + " segments");
    }
    auto segment = decode(path.substr(begin, end - begin), false);
    if (!segment.ok()) return std::move(segment).error();
    if (*segment == "." || *segment == "..") {
      return invalid("the path holds a `.` or `..` segment; send the path it stands for");
    }
    segments.push_back(*std::move(segment));
    if (end == path.size()) return segments;
    begin = end + 1;
  }
}

Result<std::vector<QueryParameter>> parse_query(std::string_view query,
                                                std::size_t parameters_max) {
  std::vector<QueryParameter> parameters;
  while (!query.empty()) {
    const auto piece = take_piece(query, '&');
    if (piece.empty()) continue;
    if (parameters.size() == parameters_max) {
      return invalid("the query has more than " + std::to_string(parameters_max) + " parameters");
    }
    std::string_view value = piece;
    const auto name = take_piece(value, '=');
    QueryParameter parameter;
    LAYARD_ASSIGN(parameter.name, decode(name, true));
    LAYARD_ASSIGN(parameter.value, decode(value, true));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::optional<std::string_view> find_parameter(const std::vector<QueryParameter>& parameters,
                                               std::string_view name) {
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    if (it->name == name) return it->value;
  }
  return std::nullopt;
}

bool is_media_type(std::string_view content_type, std::string_view media_type) {
  auto type = content_type.substr(0, std::min(content_type.find(';'), content_type.size()));
  type.remove_suffix(type.size() - (type.find_last_not_of(" \t") + 1));
  return equal_ignoring_case(type, media_type);
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  auto token = authorization.substr(kScheme.size());
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  if (token.empty()) return std::nullopt;
  return token;
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept {
  // Every byte of `given` is looked at whatever came before; volatile keeps the compiler from
  // leaving the loop early. With an empty secret nothing is equal but the empty text.
  volatile unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    difference = difference | static_cast<unsigned char>(given[i] ^ other);
  }
  return difference == 0U;
}

std::optional<HostPort> parse_host(std::string_view host) {
  HostPort result;
  std::string_view rest = host;
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    result.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!std::ranges::all_of(result.host, is_ipv6_byte)) return std::nullopt;
  } else {
    const auto end = std::min(rest.find(':'), rest.size());
    result.host = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  for (char& c : result.host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const bool bracketed = host.starts_with('[');
  if (result.host.empty() || (!bracketed && !std::ranges::all_of(result.host, is_name_byte))) {
    return std::nullopt;
  }
  if (rest.empty() || rest == ":") return result;
  if (rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  unsigned port = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (error != std::errc() || stop != rest.data() + rest.size() || port > 65535) {
    return std::nullopt;
  }
  result.port = port;
  return result;
}

}  // namespace layard::http
