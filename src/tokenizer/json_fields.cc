#include "tokenizer/json_fields.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace layard::tokenizer {

Error bad_file(std::string_view where, const std::string& what) {
  return {ErrorCode::kArtifactIntegrity,
          "tokenizer.json: " + std::string(where) + ": " + what + "; restore the original file"};
}

Error not_implemented(const std::string& what) {
  return {ErrorCode::kUnsupportedModel,
          "tokenizer.json: " + what +
              " is not implemented; docs/tokenizers.md lists the components that are"};
}

Status GrowthBudget::spend(double factor, const std::string& where) {
  spent_ *= std::max(1.0, factor);
  if (spent_ <= kMax) return {};
  return not_implemented("a chain of steps that may make a text over " +
                         std::to_string(static_cast<int>(kMax)) + " times longer (" + where + ")");
}

Result<JsonFields> JsonFields::of(const base::JsonValue& value, std::string where) {
  if (!value.is_object()) return bad_file(where, "expected an object");
  return JsonFields(value, std::move(where));
}

std::string JsonFields::path(std::string_view name) const {
  return where_.empty() ? std::string(name) : where_ + "." + std::string(name);
}

const base::JsonValue* JsonFields::find(std::string_view name) const {
  const base::JsonValue* value = value_->find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<const base::JsonValue*> JsonFields::require(std::string_view name) const {
  const base::JsonValue* value = find(name);
  if (value == nullptr) return bad_file(path(name), "the field is missing");
  return value;
}

Result<bool> JsonFields::boolean(std::string_view name) const {
  LAYARD_ASSIGN(const base::JsonValue* value, require(name));
  if (!value->is_bool()) return bad_file(path(name), "expected true or false");
  return value->as_bool();
}

Result<bool> JsonFields::boolean_or(std::string_view name, bool absent) const {
  if (find(name) == nullptr) return absent;
  return boolean(name);
}

Result<std::string> JsonFields::string(std::string_view name) const {
  LAYARD_ASSIGN(const base::JsonValue* value, require(name));
  if (!value->is_string()) return bad_file(path(name), "expected a string");
  return value->text();
}

Result<std::string> JsonFields::short_string(std::string_view name) const {
  LAYARD_ASSIGN(std::string text, string(name));
  if (text.size() <= kShortTextBytesMax) return text;
  return not_implemented("a text of " + std::to_string(text.size()) + " bytes in " + path(name) +
                         ", where at most " + std::to_string(kShortTextBytesMax) +
                         " are expected,");
}

Result<std::string> JsonFields::short_string_or_empty(std::string_view name) const {
  if (find(name) == nullptr) return std::string();
  return short_string(name);
}

Result<std::optional<std::string>> JsonFields::optional_string(std::string_view name) const {
  if (find(name) == nullptr) return std::optional<std::string>();
  LAYARD_ASSIGN(std::string text, string(name));
  return std::optional<std::string>(std::move(text));
}

Result<std::int64_t> JsonFields::whole_number(std::string_view name, std::int64_t max) const {
  LAYARD_ASSIGN(const base::JsonValue* value, require(name));
  const std::optional<std::int64_t> number = value->as_int64();
  if (!value->is_integer() || !number || *number < 0 || *number > max) {
    return bad_file(path(name), "expected a whole number from 0 to " + std::to_string(max));
  }
  return *number;
}

Result<std::string> JsonFields::character(std::string_view name) const {
  LAYARD_ASSIGN(std::string text, string(name));
  if (base::count_code_points(text) != 1) return bad_file(path(name), "expected one character");
  return text;
}

Result<std::string> JsonFields::literal_pattern(std::string_view component) const {
  LAYARD_ASSIGN(const base::JsonValue* value, require("pattern"));
  LAYARD_ASSIGN(const JsonFields pattern, of(*value, path("pattern")));
  if (pattern.find("Regex") != nullptr) {
    return not_implemented("the regular expression of " + std::string(component) + " (" + where_ +
                           ")");
  }
  LAYARD_ASSIGN(std::string text, pattern.short_string("String"));
  if (text.empty()) {
    return not_implemented("the empty pattern of " + std::string(component) + " (" + where_ + ")");
  }
  return text;
}

Result<const base::JsonValue*> JsonFields::array(std::string_view name) const {
  LAYARD_ASSIGN(const base::JsonValue* value, require(name));
  if (!value->is_array()) return bad_file(path(name), "expected an array");
  return value;
}

Result<std::vector<Component>> read_components(const base::JsonValue& value,
                                               const std::string& where, std::string_view list) {
  std::vector<Component> components;
  std::vector<std::pair<const base::JsonValue*, std::string>> pending{{&value, where}};
  for (std::size_t seen = 1; !pending.empty();) {
    const auto [next, path] = std::move(pending.back());
    pending.pop_back();
    LAYARD_ASSIGN(JsonFields fields, JsonFields::of(*next, path));
    auto type = fields.string("type");
    if (!type.ok()) return type.error();
    if (*type != "Sequence") {
      components.push_back({*std::move(type), std::move(fields)});
      continue;
    }
    LAYARD_ASSIGN(const base::JsonValue* items, fields.array(list));
    seen += items->size();
    if (seen > kComponentsMax) {
      return not_implemented("a " + where + " of more than " + std::to_string(kComponentsMax) +
                             " components");
    }
    for (std::size_t i = items->size(); i-- > 0;) {
      pending.emplace_back(&items->items()[i],
                           path + "." + std::string(list) + "[" + std::to_string(i) + "]");
    }
  }
  return components;
}

}  // namespace layard::tokenizer
