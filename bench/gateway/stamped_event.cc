#include "stamped_event.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace layard::bench {
namespace {

constexpr std::string_view kSequence = "seq=";
constexpr std::string_view kSent = " sent=";
constexpr std::size_t kSequenceDigits = 9;
constexpr std::size_t kSentDigits = 19;

std::string http_chunk(const std::string& data) {
  std::array<char, 24> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  return size.data() + data + "\r\n";
}

std::string event_text(const std::string& model, const std::string& content) {
  return "data: {\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion.chunk\",\"created\":1,"
         "\"model\":\"" +
         model + "\",\"system_fingerprint\":\"" + std::string(kSequence) +
         std::string(kSequenceDigits, '0') + std::string(kSent) + std::string(kSentDigits, '0') +
         "\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + content +
         "\"},\"finish_reason\":null}]}\n\n";
}

void put_digits(std::string& text, std::size_t at, std::size_t digits, std::int64_t value) {
  for (std::size_t i = digits; i > 0; --i) {
    text[at + i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

std::optional<std::int64_t> digits_after(std::string_view text, std::string_view name,
                                         std::size_t digits) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos || text.size() < at + name.size() + digits) return std::nullopt;
  const char* begin = text.data() + at + name.size();
  std::int64_t value = 0;
  const auto read = std::from_chars(begin, begin + digits, value);
  if (read.ec != std::errc() || read.ptr != begin + digits) return std::nullopt;
  return value;
}

}  // namespace

EventWriter::EventWriter(const std::string& model, std::size_t event_bytes) : model_(model) {
  const std::size_t least = event_text(model, "").size();
  const std::string padding(event_bytes > least ? event_bytes - least : 1, 'x');
  chunk_ = http_chunk(event_text(model, padding));
  sequence_at_ = chunk_.find(kSequence) + kSequence.size();
  sent_at_ = chunk_.find(kSent) + kSent.size();
}

std::string_view EventWriter::chunk(const Stamp& stamp) {
  put_digits(chunk_, sequence_at_, kSequenceDigits, stamp.sequence);
  put_digits(chunk_, sent_at_, kSentDigits, stamp.sent_ns);
  return chunk_;
}

std::string EventWriter::last_chunks(std::int64_t events) const {
  const std::string head =
      "data: {\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion.chunk\",\"created\":1,"
      "\"model\":\"" +
      model_ + "\",";
  const std::string count = std::to_string(events);
  return http_chunk(head +
                    "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n") +
         http_chunk(head + "\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" +
                    count + ",\"total_tokens\":" + std::to_string(events + 9) + "}}\n\n") +
         http_chunk("data: [DONE]\n\n") + "0\r\n\r\n";
}

std::optional<Stamp> read_stamp(std::string_view event) {
  const auto sequence = digits_after(event, kSequence, kSequenceDigits);
  const auto sent = digits_after(event, kSent, kSentDigits);
  if (!sequence || !sent) return std::nullopt;
  return Stamp{*sequence, *sent};
}

}  // namespace layard::bench
