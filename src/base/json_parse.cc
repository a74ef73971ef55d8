#include <simdjson.h>

#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_fault.h"

namespace layard::base {
namespace {

namespace ondemand = simdjson::ondemand;

// CPython refuses to read longer integers (sys.int_info.default_max_str_digits).
constexpr std::size_t kIntegerDigitsMax = 4300;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Number grammar of RFC 8259. Returns false when `text` is not exactly one number.
bool is_json_number(std::string_view text, bool& integer) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const std::size_t first = i;
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i == first || (text[first] == '0' && i > first + 1)) return false;
  integer = true;
  if (i < text.size() && text[i] == '.') {
    integer = false;
    const std::size_t fraction = ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
    if (i == fraction) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    integer = false;
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const std::size_t exponent = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    if (i == exponent) return false;
  }
  return i == text.size();
}

// simdjson 3.0 has no at_end(): behind the last token there is no location any more.
bool at_end(ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

std::string_view trim_token(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

// The refusal of a text that is not JSON: where, and what was most likely meant. `otherwise` is
// what is said where the search for the fault comes back without one.
Error not_json(std::string_view text, const JsonLimits& limits, const std::string& otherwise) {
  const auto fault = find_json_fault(text, limits.depth_max);
  if (!fault) return {ErrorCode::kInvalidRequest, otherwise};
  const std::string place =
      "line " + std::to_string(fault->line) + ", column " + std::to_string(fault->column);
  const std::string pointer = fault->pointer.empty() ? "" : " (" + fault->pointer + ")";
  return {ErrorCode::kInvalidRequest, "JSON at " + place + pointer + ": " + fault->what};
}

// Walks one document with simdjson's on-demand API and reports events. Open containers are kept in
// a vector, each with its iterator: the depth of a text costs memory, never the caller's stack.
class Walker {
 public:
  /// REQUIRES: `text` is what `document` was made from and holds a token.
  Walker(std::string_view text, const JsonLimits& limits, JsonHandler& handler)
      : text_(text), limits_(limits), handler_(handler) {}

  Status run(ondemand::document& document) {
    ondemand::json_type type{};
    if (document.type().get(type)) return visit_root_scalar(document, ondemand::json_type::null);
    if (type == ondemand::json_type::object || type == ondemand::json_type::array) {
      ondemand::value root;
      if (const auto error = document.get_value().get(root)) return fail_parse(error);
      LAYARD_TRY(visit(root, type));
      while (!stopped_ && !path_.empty()) {
        LAYARD_TRY(path_.back().is_object ? step_object() : step_array());
      }
      if (!stopped_ && !at_end(document)) return malformed("unexpected text after the document");
      return {};
    }
    return visit_root_scalar(document, type);
  }

 private:
  // One open container. `field` or `element` stands on the child visited last, or on the first one
  // while `started` is false.
  struct Frame {
    bool is_object;
    bool started = false;
    std::size_t index = 0;
    std::string_view key = {};  // without data() until one was read
    ondemand::object_iterator field = {};
    ondemand::array_iterator element = {};
  };

  Status visit_root_scalar(ondemand::document& document, ondemand::json_type type) {
    if (type == ondemand::json_type::string) {
      std::string_view text;
      if (const auto error = document.get_string().get(text)) return fail_parse(error);
      // A root string leaves the cursor behind it: anything more is trailing text.
      if (!at_end(document)) return malformed("unexpected text after the document");
      stopped_ = !handler_.on_string(text);
      return {};
    }
    // A root scalar is the whole text, so what follows it cannot be overlooked.
    return scalar(trim_token(text_.substr(text_.find_first_not_of(" \t\r\n"))));
  }

  // Reports a scalar whole, of a container only its begin: the steps that follow do the rest.
  Status visit(ondemand::value value, ondemand::json_type type) {
    if (++nodes_ > limits_.nodes_max) {
      return fail("more than " + std::to_string(limits_.nodes_max) + " values");
    }
    switch (type) {
      case ondemand::json_type::object:
        return open_object(value);
      case ondemand::json_type::array:
        return open_array(value);
      case ondemand::json_type::string: {
        std::string_view text;
        if (const auto error = value.get_string().get(text)) return fail_parse(error);
        stopped_ = !handler_.on_string(text);
        return {};
      }
      default:
        return scalar(trim_token(value.raw_json_token()));
    }
  }

  Status visit_child(ondemand::value value) {
    ondemand::json_type type{};
    // No type means the first character starts no JSON value; scalar() words the refusal.
    if (value.type().get(type)) return scalar(trim_token(value.raw_json_token()));
    return visit(value, type);
  }

  Status enter(bool is_object) {
    if (path_.size() >= limits_.depth_max) {
      return fail("nested deeper than " + std::to_string(limits_.depth_max) + " levels");
    }
    path_.push_back({.is_object = is_object});
    return {};
  }

  Status open_object(ondemand::value value) {
    LAYARD_TRY(enter(true));
    stopped_ = !handler_.on_begin_object();
    if (stopped_) return {};
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return fail_parse(error);
    if (const auto error = object.begin().get(path_.back().field)) return fail_parse(error);
    return {};
  }

  Status open_array(ondemand::value value) {
    LAYARD_TRY(enter(false));
    stopped_ = !handler_.on_begin_array();
    if (stopped_) return {};
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return fail_parse(error);
    if (const auto error = array.begin().get(path_.back().element)) return fail_parse(error);
    return {};
  }

  // The next member of the innermost container, or its end.
  Status step_object() {
    Frame& frame = path_.back();
    if (std::exchange(frame.started, true)) ++frame.field;
    // simdjson compares with any iterator to ask whether this one is at its end.
    if (frame.field == ondemand::object_iterator()) {
      path_.pop_back();
      stopped_ = !handler_.on_end_object();
      return {};
    }
    auto field = *frame.field;
    frame.key = {};
    if (frame.index++ == limits_.members_max) {
      return fail("more than " + std::to_string(limits_.members_max) + " members");
    }
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return fail_parse(error);
    frame.key = key;
    stopped_ = !handler_.on_key(key);
    if (stopped_) return {};
    ondemand::value child;
    if (const auto error = field.value().get(child)) return fail_parse(error);
    return visit_child(child);
  }

  // The next element of the innermost container, or its end.
  Status step_array() {
    Frame& frame = path_.back();
    if (std::exchange(frame.started, true)) {
      ++frame.index;
      ++frame.element;
    }
    if (frame.element == ondemand::array_iterator()) {
      path_.pop_back();
      stopped_ = !handler_.on_end_array();
      return {};
    }
    ondemand::value child;
    if (const auto error = (*frame.element).get(child)) return fail_parse(error);
    return visit_child(child);
  }

  Status scalar(std::string_view token) {
    if (token == "null") {
      stopped_ = !handler_.on_null();
    } else if (token == "true" || token == "false") {
      stopped_ = !handler_.on_bool(token == "true");
    } else {
      return number(token);
    }
    return {};
  }

  Status number(std::string_view token) {
    bool integer = false;
    const bool infinity = limits_.infinities && (token == "Infinity" || token == "-Infinity");
    if (!infinity && !is_json_number(token, integer)) return malformed("not a JSON value");
    if (integer && token.size() - (token.starts_with('-') ? 1 : 0) > kIntegerDigitsMax) {
      return fail("an integer of more than 4300 digits");
    }
    stopped_ = !handler_.on_number(token, integer);
    return {};
  }

  Error fail_parse(simdjson::error_code error) const {
    return malformed("not valid JSON (" + std::string(simdjson::error_message(error)) + ")");
  }

  Error malformed(const std::string& what) const {
    return not_json(text_, limits_, fail(what).message);
  }

  Error fail(const std::string& what) const {
    return {ErrorCode::kInvalidRequest, "JSON at " + pointer() + ": " + what};
  }

  std::string pointer() const {
    std::string text;
    // Deep paths are cut: the first levels tell where to look.
    for (std::size_t i = 0; i < path_.size() && i < 16; ++i) {
      const bool none = path_[i].is_object ? path_[i].key.data() == nullptr : !path_[i].started;
      if (none) break;  // the fault is that of the container itself
      text += '/';
      if (path_[i].is_object) {
        text += path_[i].key.substr(0, 64);
      } else {
        text += std::to_string(path_[i].index);
      }
    }
    if (path_.size() > 16) text += "/...";
    return text.empty() ? "the top level" : text;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  JsonHandler& handler_;
  std::vector<Frame> path_;
  std::size_t nodes_ = 0;
  bool stopped_ = false;
};

}  // namespace

/// Builds a JsonValue from events; containers under construction are kept on a stack.
class JsonBuilder final : public JsonHandler {
 public:
  bool on_null() override { return add(JsonValue::null()); }
  bool on_bool(bool value) override { return add(JsonValue::boolean(value)); }
  bool on_number(std::string_view text, bool integer) override {
    return add(integer ? JsonValue::integer_text(std::string(text))
                       : JsonValue::real_text(std::string(text)));
  }
  bool on_string(std::string_view text) override {
    return add(JsonValue::string(std::string(text)));
  }
  bool on_begin_object() override { return open(JsonValue::object()); }
  bool on_key(std::string_view key) override {
    open_.back().key = key;
    return true;
  }
  bool on_end_object() override { return close(); }
  bool on_begin_array() override { return open(JsonValue::array()); }
  bool on_end_array() override { return close(); }

  JsonValue take() { return std::move(root_); }

 private:
  struct Open {
    JsonValue value;
    std::string key;
  };

  bool open(JsonValue container) {
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    JsonValue done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }

  bool add(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.push_back(std::move(value));
    } else {
      parent.value.set_owned(std::move(parent.key), std::move(value));
    }
    return true;
  }

  std::vector<Open> open_;
  JsonValue root_;
};

namespace {

Status walk(std::string_view text, const JsonLimits& limits, JsonHandler& handler) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > limits.bytes_max) {
    return Error{ErrorCode::kInvalidRequest, "JSON of " + std::to_string(text.size()) +
                                                 " bytes is over the limit of " +
                                                 std::to_string(limits.bytes_max)};
  }
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  if (const auto error = parser.iterate(padded).get(document)) {
    return not_json(text, limits,
                    std::string("not valid JSON (") + simdjson::error_message(error) + ")");
  }
  return Walker(text, limits, handler).run(document);
}

}  // namespace

Status parse_json_events(std::string_view text, const JsonLimits& limits, JsonHandler& handler) {
  JsonLimits without_objects = limits;
  without_objects.members_max = limits.nodes_max;
  return walk(text, without_objects, handler);
}

Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits) {
  JsonBuilder builder;
  LAYARD_TRY(walk(text, limits, builder));
  return builder.take();
}

}  // namespace layard::base
