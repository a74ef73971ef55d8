#include "http/response_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace layard::http {
namespace {

bool is_servers_own(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 5> kOwn = {
      "Date", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"};
  return std::ranges::any_of(kOwn,
                             [&](std::string_view own) { return equal_ignoring_case(own, name); });
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_digits(std::string& out, unsigned value, unsigned digits) {
  for (unsigned divisor = digits == 4 ? 1000 : 10; divisor > 0; divisor /= 10) {
    out += static_cast<char>('0' + value / divisor % 10);
  }
}

}  // namespace

ResponseHead write_response_head(const Response& response, const ResponseHeadOptions& options) {
  ResponseHead head;
  std::string& out = head.bytes;
  const int status = response.status >= 100 && response.status <= 599 ? response.status : 500;
  out.reserve(256);
  out.append("HTTP/1.1 ").append(std::to_string(status)).append(" ");
  out.append(status_phrase(status)).append("\r\n");
  append_field(out, "Date", options.date);
  for (const Field& field : response.fields.all()) {
    if (is_servers_own(field.name)) continue;
    if (!is_token(field.name) || !is_field_value(field.value)) {
      ++head.fields_dropped;
      continue;
    }
    append_field(out, field.name, field.value);
  }
  switch (options.framing) {
    case ResponseFraming::kLength:
      append_field(out, "Content-Length", std::to_string(response.body.size()));
      break;
    case ResponseFraming::kChunked:
      append_field(out, "Transfer-Encoding", "chunked");
      break;
    case ResponseFraming::kNoBody:
    case ResponseFraming::kClose:
      break;
  }
  if (options.close) {
    append_field(out, "Connection", "close");
  } else if (options.say_keep_alive) {
    append_field(out, "Connection", "keep-alive");
  }
  out.append("\r\n");
  return head;
}

void append_chunk(std::string& out, std::string_view piece) {
  if (piece.empty()) return;
  std::array<char, 16> size;
  const auto end = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16).ptr;
  out.append(size.data(), end).append("\r\n").append(piece).append("\r\n");
}

std::string http_date(std::int64_t unix_time_s) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::seconds;
  static constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                            "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::int64_t kLast = 253'402'300'799;  // 9999-12-31 23:59:59
  const std::chrono::sys_seconds time{seconds(std::clamp<std::int64_t>(unix_time_s, 0, kLast))};
  const auto day = floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string out(kDays[std::chrono::weekday(day).c_encoding()]);
  out += ", ";
  append_digits(out, static_cast<unsigned>(date.day()), 2);
  out.append(" ").append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  append_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out += ' ';
  append_digits(out, static_cast<unsigned>(clock.hours().count()), 2);
  out += ':';
  append_digits(out, static_cast<unsigned>(clock.minutes().count()), 2);
  out += ':';
  append_digits(out, static_cast<unsigned>(clock.seconds().count()), 2);
  return out + " GMT";
}

}  // namespace layard::http
