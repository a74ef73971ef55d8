#include "gateway/model_scanner.h"

namespace layard::gateway {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The value of a hex digit; 16 for other bytes.
std::uint32_t hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return 16;
}

}  // namespace

void ModelScanner::restart() {
  const ModelPlaces places = places_;
  *this = ModelScanner(places);
}

bool ModelScanner::is_open() const noexcept {
  return state_ != State::kStart && state_ != State::kDone;
}

bool ModelScanner::in_string() const noexcept {
  return state_ == State::kInName || state_ == State::kModel || state_ == State::kText ||
         state_ == State::kNestedText;
}

ModelScanner::Step ModelScanner::scan(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    at += plain_bytes(bytes.substr(at));
    if (at == bytes.size()) break;
    const Found found = read_byte(bytes[at++]);
    if (found != Found::kNothing) return {at, found};
  }
  return {at, Found::kNothing};
}

// Bytes at the begin that change nothing: most of a text is within strings and other containers.
std::size_t ModelScanner::plain_bytes(std::string_view bytes) const {
  if (state_ == State::kDone) return bytes.size();
  if (escaped_) return 0;
  std::size_t count = 0;
  if (state_ == State::kModel || state_ == State::kText || state_ == State::kNestedText) {
    while (count < bytes.size() && bytes[count] != '"' && bytes[count] != '\\') ++count;
  } else if (state_ == State::kNested) {
    // Quote 0x22; the four brackets without bits 1 and 2 of `{`: 0x5B 0x5D 0x7B 0x7D.
    while (count < bytes.size() && bytes[count] != '"' && (bytes[count] & 0xD9) != 0x59) ++count;
  }
  return count;
}

ModelScanner::Found ModelScanner::read_byte(char byte) {
  switch (state_) {
    case State::kStart:
      if (mark_bytes_ < kByteOrderMark.size() && byte == kByteOrderMark[mark_bytes_]) {
        ++mark_bytes_;
      } else if (byte == '{') {
        state_ = State::kName;
      } else if (!is_space(byte)) {
        state_ = State::kDone;
      }
      return Found::kNothing;
    case State::kName:
      if (byte == '"') {
        state_ = State::kInName;
        name_bytes_ = 0;
      } else if (byte == '}') {
        end_object();
      } else if (!is_space(byte)) {
        state_ = State::kDone;
      }
      return Found::kNothing;
    case State::kInName:
      read_name(byte);
      return Found::kNothing;
    case State::kColon:
      if (!is_space(byte)) state_ = byte == ':' ? State::kValue : State::kDone;
      return Found::kNothing;
    case State::kValue:
      return begin_value(byte);
    case State::kModel:
    case State::kText: {
      const bool was_escaped = escaped_;
      escaped_ = !was_escaped && byte == '\\';
      if (was_escaped || byte != '"') return Found::kNothing;
      const bool was_model = state_ == State::kModel;
      state_ = State::kAfter;
      return was_model ? Found::kEnd : Found::kNothing;
    }
    case State::kAfter:
      if (byte == ',') state_ = State::kName;
      if (byte == '}') end_object();
      if (byte == '"' || byte == '{' || byte == '[' || byte == ']') state_ = State::kDone;
      return Found::kNothing;
    case State::kNested:
    case State::kNestedText:
      read_nested(byte);
      return Found::kNothing;
    default:
      return Found::kNothing;
  }
}

void ModelScanner::read_name(char byte) {
  if (hex_left_ > 0) {
    const std::uint32_t digit = hex_value(byte);
    if (digit > 15) {
      state_ = State::kDone;
      return;
    }
    hex_ = hex_ * 16 + digit;
    // Names looked for are ASCII: what else an escape says makes another name.
    if (--hex_left_ == 0) add_to_name(hex_ < 0x80 ? static_cast<char>(hex_) : '\x7F');
  } else if (escaped_) {
    escaped_ = false;
    if (byte == 'u') {
      hex_left_ = 4;
      hex_ = 0;
    } else {
      add_to_name('\x7F');  // no other escape stands for a letter
    }
  } else if (byte == '\\') {
    escaped_ = true;
  } else if (byte == '"') {
    state_ = State::kColon;
  } else {
    add_to_name(byte);
  }
}

void ModelScanner::add_to_name(char byte) {
  if (name_bytes_ < name_.size()) {
    name_[name_bytes_++] = byte;
  } else {
    name_bytes_ = name_.size() + 1;
  }
}

ModelScanner::Found ModelScanner::begin_value(char byte) {
  if (is_space(byte)) return Found::kNothing;
  const std::string_view name =
      name_bytes_ <= name_.size() ? std::string_view(name_.data(), name_bytes_) : "";
  if (byte == '"') {
    state_ = name == "model" ? State::kModel : State::kText;
    return state_ == State::kModel ? Found::kBegin : Found::kNothing;
  }
  const bool enters = places_ == ModelPlaces::kReply && !in_child_ && byte == '{' &&
                      (name == "message" || name == "response");
  if (enters) {
    in_child_ = true;
    state_ = State::kName;
  } else if (byte == '{' || byte == '[') {
    nested_ = 1;
    state_ = State::kNested;
  } else {
    state_ =
        byte == ',' || byte == '}' || byte == ']' || byte == ':' ? State::kDone : State::kAfter;
  }
  return Found::kNothing;
}

void ModelScanner::end_object() {
  state_ = in_child_ ? State::kAfter : State::kDone;
  in_child_ = false;
}

void ModelScanner::read_nested(char byte) {
  if (state_ == State::kNestedText) {
    const bool was_escaped = escaped_;
    escaped_ = !was_escaped && byte == '\\';
    if (!was_escaped && byte == '"') state_ = State::kNested;
    return;
  }
  if (byte == '"') state_ = State::kNestedText;
  if (byte == '{' || byte == '[') ++nested_;
  if ((byte == '}' || byte == ']') && --nested_ == 0) state_ = State::kAfter;
}

}  // namespace layard::gateway
