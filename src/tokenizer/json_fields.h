/// Reading the small objects of a tokenizer.json: fields by name, errors that say which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "layard/error.h"

namespace layard::tokenizer {

/// kArtifactIntegrity: `tokenizer.json: <where>: <what>`.
Error bad_file(std::string_view where, const std::string& what);
/// kUnsupportedModel: `tokenizer.json: <what> is not implemented; <remedy>`.
Error not_implemented(const std::string& what);

/// How many times longer a chain of replacements may make a text. Files in use stay below 100; a
/// hostile one could ask for any amount of memory.
class GrowthBudget {
 public:
  static constexpr double kMax = 512;
  /// Multiplies by what one step may do. Errors: kUnsupportedModel naming `where`.
  Status spend(double factor, const std::string& where);

 private:
  double spent_ = 1;
};

/// Bytes of a pattern, prefix or suffix. The longest in files in use have some ten; searching for a
/// hostile one would take the product of two lengths.
inline constexpr std::size_t kShortTextBytesMax = 1024;

/// One object and the path to it. Fields the Rust package has no default for are required.
/// Errors: kArtifactIntegrity naming the path of the field.
/// Ownership: refers to the value. Source: tokenizers 0.23 (serde attributes of each component).
class JsonFields {
 public:
  /// Refuses anything but an object.
  static Result<JsonFields> of(const base::JsonValue& value, std::string where);

  const std::string& where() const { return where_; }
  /// The field, or null when absent or JSON null.
  const base::JsonValue* find(std::string_view name) const;

  Result<bool> boolean(std::string_view name) const;
  Result<bool> boolean_or(std::string_view name, bool absent) const;
  Result<std::string> string(std::string_view name) const;
  /// A text that is looked for, or put around others, at every place of a text: at most
  /// kShortTextBytesMax, else kUnsupportedModel.
  Result<std::string> short_string(std::string_view name) const;
  /// The same, or "" when the field is absent.
  Result<std::string> short_string_or_empty(std::string_view name) const;
  Result<std::optional<std::string>> optional_string(std::string_view name) const;
  Result<std::int64_t> whole_number(std::string_view name, std::int64_t max) const;
  /// A string of exactly one code point, as UTF-8.
  Result<std::string> character(std::string_view name) const;
  /// The `{"String": ...}` pattern of a component, a short_string(); `{"Regex": ...}` is refused by
  /// name.
  Result<std::string> literal_pattern(std::string_view component) const;
  Result<const base::JsonValue*> array(std::string_view name) const;

  std::string path(std::string_view name) const;

 private:
  JsonFields(const base::JsonValue& value, std::string where)
      : value_(&value), where_(std::move(where)) {}
  Result<const base::JsonValue*> require(std::string_view name) const;

  const base::JsonValue* value_;
  std::string where_;
};

/// A normalizer, pre-tokenizer or decoder of the file, with its "type".
struct Component {
  std::string type;
  JsonFields fields;
};

/// Components that a part may have, its "Sequence" ones counted too. Files in use have below ten.
inline constexpr std::size_t kComponentsMax = 64;

/// The part `value` as its components in order: itself, or what its "Sequence" lists in the field
/// `list`, sequences in sequences too. Uses no stack of the caller for their depth.
/// Errors: kArtifactIntegrity naming the field; kUnsupportedModel over kComponentsMax.
Result<std::vector<Component>> read_components(const base::JsonValue& value,
                                               const std::string& where, std::string_view list);

}  // namespace layard::tokenizer
