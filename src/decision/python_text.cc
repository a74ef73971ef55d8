#include "decision/python_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/python_number.h"
#include "base/utf8.h"
#include "decision/python_unicode.h"

namespace layard::decision {
namespace {

using base::JsonKind;
using base::JsonValue;

constexpr std::size_t kReprBytesMax = 2000;

bool is_printable(char32_t code_point) {
  const auto ranges = hidden_ranges();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t c, const CodePointRange& range) { return c < range.first; });
  return after == ranges.begin() || code_point > std::prev(after)->last;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

char32_t to_lower(char32_t code_point) {
  const auto ranges = lower_ranges();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t c, const LowerRange& range) { return c < range.first; });
  if (after == ranges.begin()) return code_point;
  const LowerRange& range = *std::prev(after);
  if (code_point > range.last || (code_point - range.first) % range.step != 0) return code_point;
  return static_cast<char32_t>(static_cast<std::int64_t>(code_point) + range.delta);
}

void append_hex(std::string& out, char32_t code_point, int digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int i = digits - 1; i >= 0; --i) out.push_back(kHex[(code_point >> (4 * i)) & 15U]);
}

void append_escaped(std::string& out, char32_t c, char quote) {
  if (c == static_cast<char32_t>(quote) || c == U'\\') {
    out.push_back('\\');
    out.push_back(static_cast<char>(c));
  } else if (c == U'\t') {
    out += "\\t";
  } else if (c == U'\n') {
    out += "\\n";
  } else if (c == U'\r') {
    out += "\\r";
  } else if (is_printable(c)) {
    base::append_utf8(out, c);
  } else if (c <= 0xFF) {
    out += "\\x";
    append_hex(out, c, 2);
  } else if (c <= 0xFFFF) {
    out += "\\u";
    append_hex(out, c, 4);
  } else {
    out += "\\U";
    append_hex(out, c, 8);
  }
}

// Stops once `out` is over `bytes_max`; the caller cuts.
void append_string_repr(std::string& out, std::string_view text, std::size_t bytes_max) {
  const bool single = text.find('\'') != std::string_view::npos;
  const bool dual = text.find('"') != std::string_view::npos;
  const char quote = single && !dual ? '"' : '\'';
  out.push_back(quote);
  for (std::size_t i = 0; i < text.size() && out.size() <= bytes_max;) {
    const base::Utf8Step step = base::decode_utf8(text, i);
    append_escaped(out, step.code_point, quote);
    i += step.bytes;
  }
  out.push_back(quote);
}

std::string float_repr(double value) {
  const std::string text = base::python_float_repr(value);
  if (text == "Infinity") return "inf";
  if (text == "-Infinity") return "-inf";
  return text == "NaN" ? "nan" : text;
}

// Writes repr() without recursion: one frame per open container.
class ReprWriter {
 public:
  explicit ReprWriter(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::string write(const JsonValue& root) {
    value(root);
    while (!open_.empty() && out_.size() <= bytes_max_) step();
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
        out_ += "None";
        return;
      case JsonKind::kBool:
        out_ += v.as_bool() ? "True" : "False";
        return;
      case JsonKind::kInteger:
        out_ += v.text();
        return;
      case JsonKind::kReal:
        out_ += float_repr(v.as_double());
        return;
      case JsonKind::kString:
        append_string_repr(out_, v.text(), bytes_max_);
        return;
      case JsonKind::kArray:
      case JsonKind::kObject:
        break;
    }
    out_.push_back(v.is_array() ? '[' : '{');
    open_.push_back({&v, 0});
  }

  void step() {
    Frame& frame = open_.back();
    const JsonValue& container = *frame.container;
    if (frame.next == container.size()) {
      out_.push_back(container.is_array() ? ']' : '}');
      open_.pop_back();
      return;
    }
    if (frame.next > 0) out_ += ", ";
    const std::size_t at = frame.next++;
    if (container.is_array()) {
      value(container.items()[at]);
      return;
    }
    const base::JsonMember& member = container.members()[at];
    append_string_repr(out_, member.key, bytes_max_);
    out_ += ": ";
    value(member.value);
  }

  std::size_t bytes_max_;
  std::string out_;
  std::vector<Frame> open_;
};

std::string cut(std::string text) {
  if (text.size() <= kReprBytesMax) return text;
  std::size_t end = kReprBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace

std::string python_repr(const JsonValue& value) {
  return cut(ReprWriter(kReprBytesMax).write(value));
}

std::string python_repr(std::string_view text) {
  std::string out;
  append_string_repr(out, text, kReprBytesMax);
  return cut(std::move(out));
}

std::string python_str(const JsonValue& value) {
  if (value.is_string()) return value.text();
  return ReprWriter(static_cast<std::size_t>(-1)).write(value);
}

std::string_view python_type_name(const JsonValue& value) {
  switch (value.kind()) {
    case JsonKind::kNull:
      return "NoneType";
    case JsonKind::kBool:
      return "bool";
    case JsonKind::kInteger:
      return "int";
    case JsonKind::kReal:
      return "float";
    case JsonKind::kString:
      return "str";
    case JsonKind::kArray:
      return "list";
    case JsonKind::kObject:
      return "dict";
  }
  return "object";
}

std::string_view json_type_name(const JsonValue& value) {
  switch (value.kind()) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "a boolean";
    case JsonKind::kInteger:
    case JsonKind::kReal:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      break;
  }
  return "an object";
}

std::string json_shown(const JsonValue& value) {
  return cut(base::write_json(value, base::JsonStyle::kPython));
}

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const base::Utf8Step step = base::decode_utf8(text, 0);
    if (!is_space(step.code_point)) break;
    text.remove_prefix(step.bytes);
  }
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) --start;
    if (!is_space(base::decode_utf8(text, start).code_point)) break;
    text.remove_suffix(text.size() - start);
  }
  return text;
}

std::string python_lower(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const base::Utf8Step step = base::decode_utf8(text, i);
    if (step.code_point == 0x130) {
      out += "i\xCC\x87";  // the one code point whose lower case is two: i, combining dot above
    } else {
      base::append_utf8(out, to_lower(step.code_point));
    }
    i += step.bytes;
  }
  return out;
}

std::string json_text(const JsonValue& value) {
  if (value.is_string()) return value.text();
  return base::write_json(value, base::JsonStyle::kPython);
}

}  // namespace layard::decision
