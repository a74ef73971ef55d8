/// Reading typed members of a JSON object one after another, with one error for the first that is
/// missing or of another type. Private to the codec.
///
/// Source: none (ours). Thread-safety: one caller at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "layard/answer.h"
#include "layard/error.h"

namespace layard::decision {

/// Reads members of one object; the first member that is missing or of another type is remembered
/// as a kInvalidRequest error that names `place`, and reading goes on with empty values.
/// REQUIRES: `value` outlives the reader.
class MemberReader {
 public:
  MemberReader(std::string place, const base::JsonValue& value)
      : place_(std::move(place)), value_(value) {
    if (!value.is_object()) note("", "an object");
  }

  const base::JsonValue& member(std::string_view key,
                                bool (base::JsonValue::*is_kind)() const noexcept,
                                std::string_view kind) {
    static const base::JsonValue kNull;
    if (error_) return kNull;
    const base::JsonValue* found = value_.find(key);
    if (found == nullptr || !(found->*is_kind)()) {
      note("/" + std::string(key), kind);
      return kNull;
    }
    return *found;
  }
  double number(std::string_view key) {
    return finite(member(key, &base::JsonValue::is_number, "a number"), "/" + std::string(key));
  }
  std::int64_t integer(std::string_view key) {
    const base::JsonValue& found = member(key, &base::JsonValue::is_integer, "an integer");
    const auto value = found.as_int64();
    if (!error_ && !value) note("/" + std::string(key), "an integer of 64 bits");
    return value.value_or(0);
  }
  std::string text(std::string_view key) {
    return member(key, &base::JsonValue::is_string, "a string").text();
  }
  const base::JsonValue& object(std::string_view key) {
    return member(key, &base::JsonValue::is_object, "an object");
  }
  /// The strings of an array.
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> out;
    for (const base::JsonValue& item :
         member(key, &base::JsonValue::is_array, "an array").items()) {
      if (!item.is_string()) note("/" + std::string(key), "an array of strings");
      out.push_back(item.text());
    }
    return out;
  }
  /// The numbers of an object, in order.
  std::vector<LabelProbability> numbers(std::string_view key) {
    std::vector<LabelProbability> out;
    for (const auto& [name, value] : object(key).members()) {
      const std::string where = "/" + std::string(key) + "/" + name;
      if (!value.is_number()) note(where, "a number");
      out.push_back({name, finite(value, where)});
    }
    return out;
  }
  bool has(std::string_view key) const { return value_.find(key) != nullptr; }
  void note(const std::string& where, std::string_view expected) {
    if (error_) return;
    error_ =
        Error{ErrorCode::kInvalidRequest, place_ + where + " must be " + std::string(expected)};
  }
  Status status() const { return error_ ? Status(*error_) : Status(); }

 private:
  double finite(const base::JsonValue& value, const std::string& where) {
    const double number = value.as_double();
    if (std::isfinite(number)) return number;
    note(where, "a number in the range of a double");
    return 0;
  }

  std::string place_;
  const base::JsonValue& value_;
  std::optional<Error> error_;
};

}  // namespace layard::decision
