#include "base/json_fault.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace layard::base {
namespace {

// Bytes of the text that a message may repeat.
constexpr std::size_t kShownBytes = 40;
// Levels of a pointer and bytes of a name in it: the first ones tell where to look.
constexpr std::size_t kPointerLevels = 16;
constexpr std::size_t kPointerNameBytes = 64;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// `text`, cut between two characters.
std::string shown(std::string_view text, std::size_t bytes = kShownBytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes)) + "...";
}

std::string code_point_name(char32_t code_point) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "U+%04X", static_cast<unsigned>(code_point));
  return buffer.data();
}

bool is_typographic_quote(char32_t c) {
  return (c >= 0x2018 && c <= 0x201F) || c == 0xAB || c == 0xBB || c == 0x2039 || c == 0x203A;
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// RFC 8259's number, the whole of `text`.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - first;
  };
  const bool zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// What is said about a word where a value should stand; empty for the words of JSON.
std::string word_fault(std::string_view word) {
  if (word == "true" || word == "false" || word == "null" || is_number(word)) return "";
  const std::string small = lower(word);
  const std::string start = "not a JSON value: " + shown(word);
  if (small == "true" || small == "false" || small == "null") return start + "; write " + small;
  if (small == "none" || small == "undefined" || small == "nil") return start + "; write null";
  const bool has_sign = small.front() == '-' || small.front() == '+';
  const std::string unsigned_word = small.substr(has_sign ? 1 : 0);
  if (unsigned_word == "nan" || unsigned_word == "inf" || unsigned_word == "infinity") {
    return "NaN and Infinity are not JSON; send a number, a string or null";
  }
  if (is_digit(word.front()) || word.front() == '-' || word.front() == '+' || word.front() == '.') {
    return start + "; numbers look like 12, -0.5 or 1e-3, and a text needs double quotes";
  }
  return start + "; a text needs double quotes: \"" + shown(word) + "\"";
}

// Reads a text token by token until the first one that may not stand where it does.
class Finder {
 public:
  Finder(std::string_view text, std::size_t depth_max) : text_(text), depth_max_(depth_max) {}

  std::optional<JsonFault> run() {
    while (!found_ && !done_) step();
    if (!found_) return std::nullopt;
    found_->pointer = pointer();
    return found_;
  }

 private:
  enum class Expect : std::uint8_t {
    kValue,         // behind ':', behind ',' in a list, or at the start
    kFirstElement,  // behind '[': a value or ']'
    kFirstName,     // behind '{': a name or '}'
    kName,          // behind ',' between braces
    kColon,
    kNext,  // behind a value: ',', a closing bracket, or the end
  };

  // One open bracket; `name` is the member at hand, with its quotes.
  struct Open {
    bool is_object;
    std::size_t at;
    std::size_t index = 0;
    std::string_view name = {};
  };

  void step() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size()) return end_of_text();
    switch (expect_) {
      case Expect::kValue:
      case Expect::kFirstElement:
        return value();
      case Expect::kFirstName:
      case Expect::kName:
        return name();
      case Expect::kColon:
        return colon();
      case Expect::kNext:
        return next();
    }
  }

  void end_of_text() {
    if (!open_.empty()) return fault(at_, "the text ends here, but " + opened() + " is not closed");
    if (expect_ != Expect::kNext) return fault(at_, "there is no JSON, the text is empty");
    done_ = true;
  }

  void value() {
    const char c = text_[at_];
    if (c == '{' || c == '[') return open(c == '{');
    if (c == '"') {
      if (string()) expect_ = Expect::kNext;
      return;
    }
    if (c == ']' && expect_ == Expect::kFirstElement) return close();
    if (c == ']' || c == '}') return missing_value();
    if (c == ',' || c == ':')
      return fault(at_, std::string("a value is missing before '") + c + "'");
    if (odd_character()) return;
    const std::string_view token = word();
    if (std::string problem = word_fault(token); !problem.empty()) return fault(at_, problem);
    at_ += token.size();
    expect_ = Expect::kNext;
  }

  void name() {
    const char c = text_[at_];
    if (c == '"') {
      const std::size_t first = at_;
      if (!string()) return;
      open_.back().name = text_.substr(first + 1, at_ - first - 2);
      expect_ = Expect::kColon;
      return;
    }
    if (c == '}' && expect_ == Expect::kFirstName) return close();
    if (c == '}') return comma_too_many();
    if (c == ']') return wrong_bracket();
    if (c == ',') return fault(at_, "a comma with nothing before it; remove it");
    if (odd_character()) return;
    if (c == ':' || c == '{' || c == '[') {
      return fault(at_, std::string("a name in double quotes is missing before '") + c + "'");
    }
    const std::string token = shown(word());
    fault(at_, "the name " + token + " needs double quotes: \"" + token + "\"");
  }

  void colon() {
    if (text_[at_] == ':') {
      ++at_;
      expect_ = Expect::kValue;
      return;
    }
    const std::string found = text_[at_] == '=' ? ", not '='" : "";
    fault(at_, "behind the name \"" + shown(open_.back().name) + "\" a ':' is missing" + found);
  }

  void next() {
    const char c = text_[at_];
    if (open_.empty()) return fault(at_, "unexpected text after the JSON document");
    if (c == ',') {
      comma_ = at_++;
      Open& inner = open_.back();
      ++inner.index;
      inner.name = {};
      expect_ = inner.is_object ? Expect::kName : Expect::kValue;
      return;
    }
    if (c == '}' || c == ']')
      return (c == '}') == open_.back().is_object ? close() : wrong_bracket();
    if (c == ':' && !open_.back().is_object) {
      return fault(at_, "':' in a list; a name and its value stand in braces: {\"name\": ...}");
    }
    if (odd_character()) return;
    fault(at_,
          "a comma is missing before this; or a double quote inside a text, which is written \\\"");
  }

  void open(bool is_object) {
    if (open_.size() == depth_max_) {
      done_ = true;  // another error, which the parser words
      return;
    }
    open_.push_back({.is_object = is_object, .at = at_});
    ++at_;
    expect_ = is_object ? Expect::kFirstName : Expect::kFirstElement;
  }

  void close() {
    open_.pop_back();
    ++at_;
    expect_ = Expect::kNext;
  }

  // A closing bracket where a value should stand.
  void missing_value() {
    if (open_.empty()) return fault(at_, std::string("'") + text_[at_] + "' closes nothing");
    if ((text_[at_] == '}') != open_.back().is_object) return wrong_bracket();
    if (open_.back().is_object) return fault(at_, "a value is missing behind the ':'");
    comma_too_many();
  }

  void comma_too_many() {
    fault(comma_, std::string("a comma with nothing behind it before '") + text_[at_] +
                      "'; remove the comma");
  }

  void wrong_bracket() {
    fault(at_, opened() + " is closed by '" + text_[at_] + "' instead of '" +
                   (open_.back().is_object ? '}' : ']') + "'");
  }

  // A character that starts no token of JSON, but is often written for one that does.
  bool odd_character() {
    const Utf8Step step = decode_utf8(text_, at_);
    if (step.code_point == 0xFFFD && step.bytes == 1) {
      fault(at_, not_utf8());
    } else if (step.code_point == '\'' || step.code_point == '`') {
      fault(at_, std::string("names and texts stand in double quotes, not in ") + text_[at_]);
    } else if (is_typographic_quote(step.code_point)) {
      fault(at_, "a typographic quote (" + code_point_name(step.code_point) +
                     "); names and texts stand in plain double quotes: \"");
    } else if (step.code_point == '/' || step.code_point == '#') {
      fault(at_, "comments are not JSON; remove it");
    } else if (step.code_point == '\\') {
      fault(at_, "a backslash outside a text; remove it");
    } else if (step.code_point < 0x20 || step.code_point == 0x7F || step.code_point == 0xA0 ||
               (step.code_point >= 0x2000 && step.code_point <= 0x200F) ||
               step.code_point == 0x3000 || step.code_point == 0xFEFF) {
      fault(at_, "the character " + code_point_name(step.code_point) +
                     ", which is no blank of JSON; remove it");
    }
    return found_.has_value();
  }

  std::string not_utf8() const {
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "0x%02X", static_cast<unsigned char>(text_[at_]));
    return std::string("the byte ") + buffer.data() + " is not UTF-8; convert the text first";
  }

  // Everything up to what ends a word in JSON.
  std::string_view word() const {
    const std::size_t end = text_.find_first_of(" \t\r\n,:[]{}\"", at_);
    return text_.substr(at_, end == std::string_view::npos ? end : end - at_);
  }

  // Passes over the string that begins here; false when it is at fault.
  bool string() {
    const std::size_t first = at_++;
    while (at_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte == '\\') {
        if (!escape()) return false;
      } else if (byte < 0x20) {
        bare_control(first);
        return false;
      } else {
        const Utf8Step step = decode_utf8(text_, at_);
        if (step.code_point == 0xFFFD && step.bytes == 1) {
          fault(at_, not_utf8());
          return false;
        }
        at_ += step.bytes;
      }
    }
    fault(first, "the double quote here is not closed");
    return false;
  }

  void bare_control(std::size_t first) {
    if (text_[at_] == '\n' || text_[at_] == '\r') {
      return fault(first,
                   "the text that begins here has a line break in it; close its double quotes, or "
                   "write \\n for the line break");
    }
    if (text_[at_] == '\t') return fault(at_, "a tab inside a text; write \\t");
    fault(at_, "the control character " + code_point_name(static_cast<unsigned char>(text_[at_])) +
                   " inside a text; write it as an escape such as \\u0007");
  }

  bool escape() {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kShort.find(c) != std::string_view::npos && c != '\0') {
      at_ += 2;
      return true;
    }
    if (c == 'u') return unicode_escape();
    bad_escape(c == '\'' ? "an apostrophe needs no backslash"
                         : "a backslash in a text is written \\\\");
    return false;
  }

  bool unicode_escape() {
    const auto unit = unit_at(at_);
    if (!unit) {
      bad_escape("\\u wants four hex digits");
      return false;
    }
    std::size_t bytes = 6;
    if (*unit >= 0xD800 && *unit < 0xE000) {
      const auto low = unit_at(at_ + 6);
      if (*unit >= 0xDC00 || !low || *low < 0xDC00 || *low >= 0xE000) {
        fault(at_, "an unpaired surrogate escape; write the character itself");
        return false;
      }
      bytes = 12;
    }
    at_ += bytes;
    return true;
  }

  // The code unit of the `\uXXXX` at `at`.
  std::optional<unsigned> unit_at(std::size_t at) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return std::nullopt;
    unsigned unit = 0;
    for (const char c : text_.substr(at + 2, 4)) {
      if (!is_hex(c)) return std::nullopt;
      unit = unit * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return unit;
  }

  void bad_escape(const std::string& remedy) {
    const Utf8Step step = decode_utf8(text_, at_ + 1);
    const bool plain = step.code_point > 0x20 && step.code_point != 0x7F;
    fault(at_, "a bad escape" +
                   (plain ? ": \\" + std::string(text_.substr(at_ + 1, step.bytes)) : "") + "; " +
                   remedy);
  }

  // "the '{' of line 3, column 7", or "the '{' of column 7" where the fault is in the same line: a
  // text of one line may well be line 90 of a file.
  std::string opened() const {
    const auto [line, column] = place(open_.back().at);
    const bool same_line = line == place(at_).first;
    return std::string("the '") + (open_.back().is_object ? '{' : '[') + "' of " +
           (same_line ? "" : "line " + std::to_string(line) + ", ") + "column " +
           std::to_string(column);
  }

  std::pair<std::size_t, std::size_t> place(std::size_t at) const {
    std::size_t line = 1;
    std::size_t start = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (text_[i] != '\n') continue;
      ++line;
      start = i + 1;
    }
    std::size_t column = 1;
    while (start < at) {
      start += decode_utf8(text_, start).bytes;
      ++column;
    }
    return {line, column};
  }

  std::string pointer() const {
    std::string out;
    for (std::size_t i = 0; i < open_.size() && i < kPointerLevels; ++i) {
      if (!open_[i].is_object) {
        out += '/' + std::to_string(open_[i].index);
      } else if (!open_[i].name.empty()) {
        out += '/' + shown(open_[i].name, kPointerNameBytes);
      }
    }
    return open_.size() > kPointerLevels ? out + "/..." : out;
  }

  void fault(std::size_t at, std::string what) {
    const auto [line, column] = place(at);
    found_ = JsonFault{line, column, "", std::move(what)};
  }

  std::string_view text_;
  std::size_t depth_max_;
  std::size_t at_ = 0;
  std::size_t comma_ = 0;  // the last one passed
  Expect expect_ = Expect::kValue;
  std::vector<Open> open_;
  std::optional<JsonFault> found_;
  bool done_ = false;
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text, std::size_t depth_max) {
  return Finder(text, depth_max).run();
}

}  // namespace layard::base
