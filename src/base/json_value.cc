#include <limits>
#include <utility>

#include "base/checks.h"
#include "base/json.h"
#include "base/json_children.h"
#include "base/python_number.h"

namespace layard::base {

namespace {

// Objects below this size are searched in order; above it through the index.
constexpr std::size_t kIndexFrom = 8;

}  // namespace

JsonValue::JsonValue() noexcept = default;
JsonValue::JsonValue(JsonValue&& other) noexcept
    : kind_(std::exchange(other.kind_, JsonKind::kNull)),
      bool_(other.bool_),
      text_(std::move(other.text_)),
      children_(std::move(other.children_)) {
  other.text_.clear();
}

JsonValue& JsonValue::operator=(JsonValue&& other) noexcept {
  if (this == &other) return *this;
  reset_children();
  kind_ = std::exchange(other.kind_, JsonKind::kNull);
  bool_ = other.bool_;
  text_ = std::move(other.text_);
  children_ = std::move(other.children_);
  other.text_.clear();
  return *this;
}

JsonValue::JsonValue(const JsonValue& other) { copy_from(other); }

JsonValue& JsonValue::operator=(const JsonValue& other) {
  if (this == &other) return *this;
  JsonValue copy(other);
  return *this = std::move(copy);
}

JsonValue::~JsonValue() { reset_children(); }

// Deep values would overflow the stack through nested destructors, so grandchildren are moved
// to a list before their parents go.
void JsonValue::reset_children() noexcept {
  if (!children_) return;
  std::vector<std::unique_ptr<Children>> pending;
  pending.push_back(std::move(children_));
  while (!pending.empty()) {
    const std::unique_ptr<Children> current = std::move(pending.back());
    pending.pop_back();
    for (JsonValue& item : current->items) {
      if (item.children_) pending.push_back(std::move(item.children_));
    }
    for (JsonMember& member : current->members) {
      if (member.value.children_) pending.push_back(std::move(member.value.children_));
    }
  }
}

void JsonValue::copy_from(const JsonValue& other) {
  std::vector<std::pair<const JsonValue*, JsonValue*>> pending{{&other, this}};
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    to->kind_ = from->kind_;
    to->bool_ = from->bool_;
    to->text_ = from->text_;
    if (!from->children_) continue;
    to->children_ = std::make_unique<Children>();
    Children& target = *to->children_;
    target.items.resize(from->children_->items.size());
    for (std::size_t i = 0; i < target.items.size(); ++i) {
      pending.emplace_back(&from->children_->items[i], &target.items[i]);
    }
    target.members.resize(from->children_->members.size());
    for (std::size_t i = 0; i < target.members.size(); ++i) {
      target.members[i].key = from->children_->members[i].key;
      pending.emplace_back(&from->children_->members[i].value, &target.members[i].value);
    }
    target.index = from->children_->index;
  }
}

JsonValue JsonValue::boolean(bool value) {
  JsonValue result;
  result.kind_ = JsonKind::kBool;
  result.bool_ = value;
  return result;
}

JsonValue JsonValue::integer(std::int64_t value) { return integer_text(std::to_string(value)); }

JsonValue JsonValue::real(double value) { return real_text(python_float_repr(value)); }

JsonValue JsonValue::integer_text(std::string digits) {
  JsonValue result;
  result.kind_ = JsonKind::kInteger;
  result.text_ = digits == "-0" ? "0" : std::move(digits);  // Python reads -0 as the integer 0
  return result;
}

JsonValue JsonValue::real_text(std::string text) {
  JsonValue result;
  result.kind_ = JsonKind::kReal;
  result.text_ = std::move(text);
  return result;
}

JsonValue JsonValue::string(std::string text) {
  JsonValue result;
  result.kind_ = JsonKind::kString;
  result.text_ = std::move(text);
  return result;
}

JsonValue JsonValue::array() {
  JsonValue result;
  result.kind_ = JsonKind::kArray;
  result.children_ = std::make_unique<Children>();
  return result;
}

JsonValue JsonValue::object() {
  JsonValue result;
  result.kind_ = JsonKind::kObject;
  result.children_ = std::make_unique<Children>();
  return result;
}

double JsonValue::as_double() const noexcept {
  if (!is_number()) return 0;
  if (text_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text_.ends_with("Infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return text_.starts_with('-') ? -infinity : infinity;
  }
  return parse_json_double(text_);
}

std::optional<std::int64_t> JsonValue::as_int64() const noexcept {
  if (!is_integer() || text_.size() > 20) return std::nullopt;
  const bool negative = text_.starts_with('-');
  std::uint64_t magnitude = 0;
  for (std::size_t i = negative ? 1 : 0; i < text_.size(); ++i) {
    const auto digit = static_cast<std::uint64_t>(text_[i] - '0');
    if (magnitude > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    magnitude = magnitude * 10 + digit;
  }
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (negative) {
    if (magnitude > limit) return std::nullopt;
    return static_cast<std::int64_t>(~magnitude + 1);
  }
  if (magnitude >= limit) return std::nullopt;
  return static_cast<std::int64_t>(magnitude);
}

std::size_t JsonValue::size() const noexcept {
  if (!children_) return 0;
  return is_array() ? children_->items.size() : children_->members.size();
}

std::span<const JsonValue> JsonValue::items() const noexcept {
  return is_array() ? std::span<const JsonValue>(children_->items) : std::span<const JsonValue>();
}

std::span<const JsonMember> JsonValue::members() const noexcept {
  return is_object() ? std::span<const JsonMember>(children_->members)
                     : std::span<const JsonMember>();
}

const JsonValue* JsonValue::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  const std::size_t at = children_->locate(key);
  return at == kNoMember ? nullptr : &children_->members[at].value;
}

JsonValue* JsonValue::find_mutable(std::string_view key) noexcept {
  return const_cast<JsonValue*>(std::as_const(*this).find(key));
}

JsonValue& JsonValue::push_back(JsonValue value) {
  LAYARD_CHECK(is_array());
  return children_->items.emplace_back(std::move(value));
}

JsonValue& JsonValue::set(std::string_view key, JsonValue value) {
  LAYARD_CHECK(is_object());
  return children_->put(std::string(key), std::move(value));
}

JsonValue& JsonValue::set_owned(std::string key, JsonValue value) {
  return children_->put(std::move(key), std::move(value));
}

void JsonValue::erase(std::string_view key) {
  if (!is_object()) return;
  const std::size_t at = children_->locate(key);
  if (at == kNoMember) return;
  children_->members.erase(children_->members.begin() + static_cast<std::ptrdiff_t>(at));
  children_->index.rebuild(children_->members);
}

std::size_t JsonValue::Children::locate(std::string_view key) const noexcept {
  if (members.size() >= kIndexFrom) return index.find(members, key, JsonKeyIndex::hash(key));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].key == key) return i;
  }
  return kNoMember;
}

JsonValue& JsonValue::Children::put(std::string key, JsonValue value) {
  if (members.size() + 1 < kIndexFrom) {
    const std::size_t at = locate(key);
    if (at != kNoMember) return members[at].value = std::move(value);
    return members.emplace_back(std::move(key), std::move(value)).value;
  }
  if (members.size() + 1 == kIndexFrom) index.rebuild(members);
  const std::uint32_t hash = JsonKeyIndex::hash(key);
  const std::size_t at = index.find(members, key, hash);
  if (at != kNoMember) return members[at].value = std::move(value);
  index.insert(hash, members.size());
  return members.emplace_back(std::move(key), std::move(value)).value;
}

}  // namespace layard::base
