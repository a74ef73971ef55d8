#include "gateway/sse_lines.h"

namespace layard::gateway {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

}  // namespace

SseLines::Token SseLines::next(std::string_view bytes) {
  const char first = bytes.front();
  if (after_cr_ && first == '\n') {
    after_cr_ = false;
    return {Kind::kHalfEnd, 1};
  }
  after_cr_ = first == '\r';
  if (is_line_end(first)) return end_line();
  if (part_ == Part::kName) return read_name(bytes);
  std::size_t end = 1;  // a loop: find_first_of() takes a call for each byte
  while (end < bytes.size() && !is_line_end(bytes[end])) ++end;
  return {kind_, end};
}

SseLines::Token SseLines::end_line() {
  const bool blank = at_line_start();
  part_ = Part::kName;
  name_bytes_ = 0;
  first_line_ = false;
  return {blank ? Kind::kBlankLine : Kind::kLineEnd, 1};
}

SseLines::Token SseLines::read_name(std::string_view bytes) {
  std::size_t count = 0;
  while (count < bytes.size() && !is_line_end(bytes[count])) {
    const char byte = bytes[count++];
    if (byte == ':') {
      kind_ = kind_of_name();
      part_ = Part::kValue;
      break;
    }
    if (name_bytes_ < name_.size()) {
      name_[name_bytes_++] = byte;
    } else {
      name_bytes_ = name_.size() + 1;
    }
  }
  return {Kind::kOther, count};
}

SseLines::Kind SseLines::kind_of_name() const {
  if (name_bytes_ > name_.size()) return Kind::kOther;
  std::string_view name(name_.data(), name_bytes_);
  if (first_line_ && name.starts_with(kByteOrderMark)) name.remove_prefix(kByteOrderMark.size());
  if (name == "data") return Kind::kData;
  if (name == "event") return Kind::kEventName;
  if (name == "error") return Kind::kErrorText;
  return Kind::kOther;
}

}  // namespace layard::gateway
