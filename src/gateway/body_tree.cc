#include "gateway/body_tree.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace layard::gateway {
namespace {

using base::JsonValue;

class TreeBuilder final : public base::JsonHandler {
 public:
  TreeBuilder(std::span<const std::string_view> top, std::span<const std::string_view> below)
      : top_(top), below_(below) {}

  bool on_null() override { return passes_over() || add(JsonValue::null()); }
  bool on_bool(bool value) override { return passes_over() || add(JsonValue::boolean(value)); }
  bool on_number(std::string_view text, bool integer) override {
    if (passes_over() || follows_number()) return true;
    return add(integer ? JsonValue::integer_text(std::string(text))
                       : JsonValue::real_text(std::string(text)));
  }
  bool on_string(std::string_view text) override {
    return passes_over() || add(JsonValue::string(std::string(text)));
  }
  bool on_begin_object() override { return open(JsonValue::object()); }
  bool on_begin_array() override { return open(JsonValue::array()); }
  bool on_end_object() override { return close(); }
  bool on_end_array() override { return close(); }
  bool on_key(std::string_view key) override {
    if (depth_passed_over_ > 0) return true;
    const auto names = open_.size() == 1 ? top_ : below_;
    pass_over_next_ = std::ranges::find(names, key) == names.end();
    if (!pass_over_next_) open_.back().key = key;
    return true;
  }

  bool too_many() const { return values_ > kBodyValuesMax; }
  JsonValue take() { return std::move(root_); }

 private:
  struct Open {
    JsonValue value;
    std::string key;
  };

  bool passes_over() { return depth_passed_over_ > 0 || std::exchange(pass_over_next_, false); }

  bool follows_number() const {
    if (open_.empty() || !open_.back().value.is_array()) return false;
    const auto items = open_.back().value.items();
    return !items.empty() && items.back().is_number();
  }

  bool open(JsonValue container) {
    if (passes_over()) {
      ++depth_passed_over_;
      return true;
    }
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    if (depth_passed_over_ > 0) {
      --depth_passed_over_;
      return true;
    }
    JsonValue done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }

  bool add(JsonValue value) {
    if (++values_ > kBodyValuesMax) return false;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value.set(open_.back().key, std::move(value));
    }
    return true;
  }

  std::span<const std::string_view> top_;
  std::span<const std::string_view> below_;
  std::vector<Open> open_;
  JsonValue root_;
  std::size_t values_ = 0;
  std::size_t depth_passed_over_ = 0;
  bool pass_over_next_ = false;
};

}  // namespace

Result<JsonValue> read_body_tree(std::string_view body, std::span<const std::string_view> top,
                                 std::span<const std::string_view> below) {
  base::JsonLimits limits;
  limits.bytes_max = body.size();      // the server has bounded it
  limits.nodes_max = body.size() + 1;  // what is passed over costs nothing
  limits.depth_max = kBodyDepthMax;
  TreeBuilder builder(top, below);
  LAYARD_TRY(parse_json_events(body, limits, builder));
  if (builder.too_many()) {
    return Error{ErrorCode::kInvalidRequest, "the body has more than " +
                                                 std::to_string(kBodyValuesMax) +
                                                 " values in its messages; send fewer"};
  }
  JsonValue root = builder.take();
  if (!root.is_object()) {
    return wrong_kind("the body", "a JSON object", root);
  }
  return root;
}

std::string_view kind_words(base::JsonKind kind) {
  switch (kind) {
    case base::JsonKind::kNull:
      return "null";
    case base::JsonKind::kBool:
      return "a boolean";
    case base::JsonKind::kInteger:
    case base::JsonKind::kReal:
      return "a number";
    case base::JsonKind::kString:
      return "a string";
    case base::JsonKind::kArray:
      return "a list";
    default:
      return "an object";
  }
}

Error wrong_kind(std::string_view where, std::string_view wanted, const JsonValue& found) {
  std::string message(where);
  message += " must be ";
  message += wanted;
  message += "; found ";
  message += kind_words(found.kind());
  return {ErrorCode::kInvalidRequest, std::move(message)};
}

}  // namespace layard::gateway
