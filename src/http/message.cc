#include "http/message.h"

#include <algorithm>
#include <array>
#include <utility>

namespace layard::http {
namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr bool is_token_byte(char c) noexcept {
  if ((c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z')) return true;
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return kMarks.find(c) != std::string_view::npos && c != '\0';
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool is_token(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, is_token_byte);
}

bool is_token_list(std::string_view value) noexcept {
  while (!value.empty()) {
    const auto comma = std::min(value.find(','), value.size());
    const auto element = trimmed(value.substr(0, comma));
    if (!element.empty() && !is_token(element)) return false;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return true;
}

bool is_field_value(std::string_view value) noexcept {
  if (trimmed(value).size() != value.size()) return false;
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
  });
}

std::optional<std::string_view> Fields::find(std::string_view name) const noexcept {
  for (const Field& field : fields_) {
    if (equal_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::string_view Fields::value_or_empty(std::string_view name) const noexcept {
  return find(name).value_or(std::string_view());
}

std::size_t Fields::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields_, [&](const Field& field) { return equal_ignoring_case(field.name, name); }));
}

bool Fields::has_token(std::string_view name, std::string_view token) const noexcept {
  for (const Field& field : fields_) {
    if (!equal_ignoring_case(field.name, name)) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const auto comma = std::min(rest.find(','), rest.size());
      if (equal_ignoring_case(trimmed(rest.substr(0, comma)), token)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

void Fields::add(std::string name, std::string value) {
  fields_.push_back({std::move(name), std::move(value)});
}

void Fields::set(std::string_view name, std::string value) {
  erase(name);
  add(std::string(name), std::move(value));
}

void Fields::erase(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.name, name); });
}

std::string_view Request::path() const noexcept {
  return std::string_view(target).substr(0, std::min(target.find('?'), target.size()));
}

std::string_view Request::query() const noexcept {
  const auto mark = target.find('?');
  if (mark == std::string::npos) return {};
  return std::string_view(target).substr(mark + 1);
}

std::string_view status_phrase(int status) noexcept {
  static constexpr std::array<std::pair<int, std::string_view>, 41> kPhrases{{
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {402, "Payment Required"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {425, "Too Early"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
  }};
  const auto found =
      std::ranges::lower_bound(kPhrases, status, {}, &std::pair<int, std::string_view>::first);
  return found != kPhrases.end() && found->first == status ? found->second : "Unknown";
}

Response make_response(int status, std::string_view content_type, std::string body) {
  Response response;
  response.status = status;
  response.fields.add("Content-Type", std::string(content_type));
  response.body = std::move(body);
  return response;
}

}  // namespace layard::http
