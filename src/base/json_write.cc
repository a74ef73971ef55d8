#include <array>
#include <vector>

#include "base/json.h"
#include "base/python_number.h"
#include "base/utf8.h"

namespace layard::base {
namespace {

// A text that was not parsed, such as a path, may hold any bytes: what is not UTF-8 becomes U+FFFD,
// as JSON cannot hold it.
void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  std::size_t plain = 0;  // start of the run not written yet
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const Utf8Step step = decode_utf8(text, i);
      i += step.bytes - 1;
      if (step.bytes > 1) continue;
      out.append(text, plain, i - plain);
      append_utf8(out, step.code_point);
      plain = i + 1;
      continue;
    }
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out.push_back(kHex[c >> 4U]);
        out.push_back(kHex[c & 15U]);
    }
  }
  out.append(text, plain, text.size() - plain);
  out.push_back('"');
}

// Writes without recursion: one frame per open container.
class Writer {
 public:
  explicit Writer(JsonStyle style) : style_(style) {}

  std::string write(const JsonValue& root) {
    value(root);
    while (!open_.empty()) step();
    return std::move(out_);
  }

 private:
  struct Frame {
    const JsonValue* container;
    std::size_t next;
  };

  void value(const JsonValue& v) {
    switch (v.kind()) {
      case JsonKind::kNull:
        out_ += "null";
        return;
      case JsonKind::kBool:
        out_ += v.as_bool() ? "true" : "false";
        return;
      case JsonKind::kInteger:
        out_ += v.text();
        return;
      case JsonKind::kReal:
        out_ += python_float_repr(v.as_double());
        return;
      case JsonKind::kString:
        append_escaped(out_, v.text());
        return;
      case JsonKind::kArray:
      case JsonKind::kObject:
        break;
    }
    out_.push_back(v.is_array() ? '[' : '{');
    if (v.size() == 0) {
      out_.push_back(v.is_array() ? ']' : '}');
      return;
    }
    open_.push_back({&v, 0});
  }

  void step() {
    Frame& frame = open_.back();
    const JsonValue& container = *frame.container;
    if (frame.next == container.size()) {
      const bool array = container.is_array();
      open_.pop_back();
      if (style_ == JsonStyle::kIndent1) new_line();
      out_.push_back(array ? ']' : '}');
      return;
    }
    separator(frame.next);
    const std::size_t at = frame.next++;
    if (container.is_array()) {
      value(container.items()[at]);
      return;
    }
    const JsonMember& member = container.members()[at];
    append_escaped(out_, member.key);
    out_ += style_ == JsonStyle::kCompact ? ":" : ": ";
    value(member.value);
  }

  void separator(std::size_t index) {
    if (style_ == JsonStyle::kIndent1) {
      if (index > 0) out_.push_back(',');
      new_line();
    } else if (index > 0) {
      out_ += style_ == JsonStyle::kCompact ? "," : ", ";
    }
  }

  void new_line() {
    out_.push_back('\n');
    out_.append(open_.size(), ' ');
  }

  JsonStyle style_;
  std::string out_;
  std::vector<Frame> open_;
};

}  // namespace

std::string write_json(const JsonValue& value, JsonStyle style) {
  return Writer(style).write(value);
}

std::string quote_json(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

}  // namespace layard::base
