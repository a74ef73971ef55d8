/// JSON as Layard needs it: bounded, exact (number text is kept), ordered, written as Python's
/// json module writes it, because that text is what the model reads.
///
/// Invariants: objects keep the order of first appearance, the last duplicate's value wins;
/// nothing here recurses without a bound; a parsed value never holds invalid UTF-8.
/// Thread-safety: values are plain; concurrent reads are safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::base {

enum class JsonKind : std::uint8_t { kNull, kBool, kInteger, kReal, kString, kArray, kObject };

struct JsonMember;

/// One JSON value. Copy is deep and, like destruction, iterative.
class JsonValue {
 public:
  JsonValue() noexcept;
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  ~JsonValue();

  static JsonValue null() { return JsonValue(); }
  static JsonValue boolean(bool value);
  static JsonValue integer(std::int64_t value);
  static JsonValue real(double value);
  /// `digits`: an integer's JSON text, any length.
  static JsonValue integer_text(std::string digits);
  /// `text`: a JSON number with a fraction or an exponent.
  static JsonValue real_text(std::string text);
  static JsonValue string(std::string text);
  static JsonValue array();
  static JsonValue object();

  JsonKind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == JsonKind::kNull; }
  bool is_bool() const noexcept { return kind_ == JsonKind::kBool; }
  bool is_integer() const noexcept { return kind_ == JsonKind::kInteger; }
  bool is_number() const noexcept { return is_integer() || kind_ == JsonKind::kReal; }
  bool is_string() const noexcept { return kind_ == JsonKind::kString; }
  bool is_array() const noexcept { return kind_ == JsonKind::kArray; }
  bool is_object() const noexcept { return kind_ == JsonKind::kObject; }

  /// REQUIRES: is_bool().
  bool as_bool() const noexcept { return bool_; }
  /// A string's text, or a number's text as it stood in the input. Empty for other kinds.
  const std::string& text() const noexcept { return text_; }
  /// A number as a double (infinite when its text is out of range); 0 for other kinds.
  double as_double() const noexcept;
  /// An integer that fits, else nothing.
  std::optional<std::int64_t> as_int64() const noexcept;

  /// Elements of an array or members of an object; 0 for scalars.
  std::size_t size() const noexcept;
  /// Elements in order; empty unless is_array().
  std::span<const JsonValue> items() const noexcept;
  /// Members in order; empty unless is_object().
  std::span<const JsonMember> members() const noexcept;
  /// The member's value, or null when absent or not an object. Constant time from 8 members on.
  const JsonValue* find(std::string_view key) const noexcept;

  /// REQUIRES: is_array(). Returns the stored element.
  JsonValue& push_back(JsonValue value);
  /// REQUIRES: is_object(). Replaces in place or appends; returns the stored value, valid until
  /// the next set().
  JsonValue& set(std::string_view key, JsonValue value);
  /// The member's value to change, or null.
  JsonValue* find_mutable(std::string_view key) noexcept;
  /// Removes a member if present, keeping the others' order.
  void erase(std::string_view key);

 private:
  struct Children;
  friend class JsonBuilder;
  JsonValue& set_owned(std::string key, JsonValue value);
  void reset_children() noexcept;
  void copy_from(const JsonValue& other);

  JsonKind kind_ = JsonKind::kNull;
  bool bool_ = false;
  std::string text_;
  std::unique_ptr<Children> children_;
};

struct JsonMember {
  std::string key;
  JsonValue value;

  JsonMember() = default;
  JsonMember(std::string k, JsonValue v) : key(std::move(k)), value(std::move(v)) {}
};

/// Bounds of one parse; over any of them the text is refused with kInvalidRequest.
struct JsonLimits {
  std::size_t bytes_max = std::size_t{64} << 20;
  std::size_t depth_max = 512;
  std::size_t nodes_max = std::size_t{4} << 20;
  /// Members of one object; applies to parse_json only, events carry no object.
  std::size_t members_max = 65536;
  /// Takes `Infinity` and `-Infinity` as numbers: write_json writes those (as Python does) for a
  /// number that is out of a double's range. Only for text that write_json wrote.
  bool infinities = false;
};

/// Receives the events of one parse in document order. Returning false stops it: parse_json_events
/// then succeeds early. Views are valid only during the call.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual bool on_null() = 0;
  virtual bool on_bool(bool value) = 0;
  /// `text`: the number's text; `integer`: no fraction and no exponent.
  virtual bool on_number(std::string_view text, bool integer) = 0;
  virtual bool on_string(std::string_view text) = 0;
  virtual bool on_begin_object() = 0;
  virtual bool on_key(std::string_view key) = 0;
  virtual bool on_end_object() = 0;
  virtual bool on_begin_array() = 0;
  virtual bool on_end_array() = 0;
};

/// Parses a whole document (a leading byte-order mark is allowed, trailing text is not).
/// Errors: kInvalidRequest. For what is not JSON (also invalid UTF-8, unpaired surrogate escapes,
/// NaN, Infinity): line, column and JSON pointer of the place, and what was most likely meant. Over
/// a limit, or an integer of more than 4,300 digits: the JSON pointer.
/// Source: RFC 8259; the digit bound is CPython 3.11's.
Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits);

/// The same document as events, without building a value (duplicate keys are passed through).
Status parse_json_events(std::string_view text, const JsonLimits& limits, JsonHandler& handler);

/// How a value is written.
enum class JsonStyle : std::uint8_t {
  kPython,   // `{"a": 1, "b": [2, 3]}`: json.dumps(v, ensure_ascii=False)
  kCompact,  // `{"a":1}`: separators (",", ":")
  kIndent1,  // json.dumps(v, ensure_ascii=False, indent=1)
};

/// Writes `value`: non-ASCII kept, bytes of a text that are no UTF-8 as U+FFFD, floats as Python's
/// repr, `/` and U+007F not escaped. Source: CPython 3.11 json.encoder.
std::string write_json(const JsonValue& value, JsonStyle style);

/// A JSON string literal of `text` with quotes, non-ASCII kept.
std::string quote_json(std::string_view text);

}  // namespace layard::base
