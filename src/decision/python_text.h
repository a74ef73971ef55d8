/// JSON values as Python prints them: upstream's messages and prompts hold repr() and str() texts.
/// Messages of our own use JSON's words instead.
///
/// Source: CPython 3.11 object protocol. Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace layard::decision {

/// repr(): `'it'`, `None`, `True`, `2.5`, `['a', {'b': 1}]`. Cut to 2,000 bytes with `...` behind,
/// so that a message about a huge value stays readable; CPython does not cut.
std::string python_repr(const base::JsonValue& value);

/// repr() of a str, cut alike.
std::string python_repr(std::string_view text);

/// str(): as repr() except that a string is its own text. Never cut.
std::string python_str(const base::JsonValue& value);

/// type(value).__name__: `NoneType`, `bool`, `int`, `float`, `str`, `list`, `dict`.
std::string_view python_type_name(const base::JsonValue& value);

/// What a value is, in JSON's words: `null`, `a boolean`, `a number`, `a string`, `a list`,
/// `an object`.
std::string_view json_type_name(const base::JsonValue& value);

/// A value's JSON on one line, cut to 2,000 bytes with `...` behind.
std::string json_shown(const base::JsonValue& value);

/// str.strip(): without white space at both ends (Unicode's, and U+001C to U+001F).
std::string_view python_strip(std::string_view text);

/// str.lower() of one code point at a time. Departs: the Greek final sigma rule is not applied.
std::string python_lower(std::string_view text);

/// The text a JSON value is for the model: a string is itself, anything else
/// json.dumps(value, ensure_ascii=False).
std::string json_text(const base::JsonValue& value);

}  // namespace layard::decision
