#include "http/response_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "http/head_fields.h"

namespace layard::http {
namespace {

constexpr int kSwitchingProtocols = 101;

Refusal refusal_of(RefusalReason reason, std::string_view message) {
  return Refusal{reason, std::string(message)};
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::optional<Refusal> read_status_line(std::string_view line, ReceivedHead& head) {
  if (!line.starts_with("HTTP/")) {
    return refusal_of(RefusalReason::kRequestLine, "the answer does not begin with HTTP/");
  }
  const auto version = line.substr(0, line.find(' '));
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refusal_of(RefusalReason::kVersion, "the answer is neither HTTP/1.1 nor HTTP/1.0");
  }
  head.version_minor = version.back() - '0';
  line.remove_prefix(std::min(version.size() + 1, line.size()));
  const auto digits = line.substr(0, 3);
  const bool is_number = digits.size() == 3 && std::ranges::all_of(digits, is_digit) &&
                         digits[0] >= '1' && digits[0] <= '5';
  // The reason may be empty, and some servers leave out the space before it too.
  if (!is_number || (line.size() > 3 && line[3] != ' ')) {
    return refusal_of(RefusalReason::kRequestLine,
                      "the answer's status is not three digits from 100 to 599");
  }
  head.status = (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
  return std::nullopt;
}

ResponseBody body_of(const Framing& framing) {
  switch (framing.framing) {
    case BodyFraming::kLength:
      return framing.content_length > 0 ? ResponseBody::kLength : ResponseBody::kNone;
    case BodyFraming::kChunked:
      return ResponseBody::kChunked;
    case BodyFraming::kNone:
      break;
  }
  return ResponseBody::kUntilClose;
}

std::optional<Refusal> read_body(const Framing& framing, bool to_head, ReceivedHead& head) {
  head.body = body_of(framing);
  head.content_length = framing.content_length;
  if (head.is_interim() || head.status == 204) {
    if (head.body == ResponseBody::kLength || head.body == ResponseBody::kChunked) {
      return refusal_of(RefusalReason::kContentLength,
                        "a response that cannot have a body announces one");
    }
    head.body = ResponseBody::kNone;
  }
  // Here the fields speak of the body that a GET would get.
  if (to_head || head.status == 304) head.body = ResponseBody::kNone;
  head.keep_alive =
      keeps_connection(head.fields, head.version_minor) && head.body != ResponseBody::kUntilClose;
  return std::nullopt;
}

}  // namespace

std::variant<ReceivedHead, Refusal> check_response_head(std::string_view head,
                                                        const HeadLimits& limits, bool to_head) {
  ReceivedHead result;
  std::string_view rest = head;
  const auto first = take_line(rest);
  if (!first) return refusal_of(RefusalReason::kRequestLine, "the answer has no status line");
  const bool is_text = is_field_value(first->substr(0, first->find_last_not_of(' ') + 1));
  if (!is_text) {
    return refusal_of(RefusalReason::kControlByte, "the status line holds a control byte");
  }
  if (auto bad = read_status_line(*first, result)) return std::move(*bad);
  if (auto bad = read_fields(rest, limits, result.fields)) return std::move(*bad);
  auto framing = read_framing(result.fields, result.version_minor);
  if (auto* bad = std::get_if<Refusal>(&framing)) return std::move(*bad);
  if (result.status == kSwitchingProtocols) {
    return refusal_of(RefusalReason::kUpgrade,
                      "the answer changes to another protocol, which nobody asked for");
  }
  if (auto bad = check_connection(result.fields)) return std::move(*bad);
  if (auto bad = read_body(std::get<Framing>(framing), to_head, result)) return std::move(*bad);
  return result;
}

}  // namespace layard::http
