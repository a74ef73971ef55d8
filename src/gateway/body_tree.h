/// The part of a request's body that the gateway reads, as values.
///
/// A body may be large, and most of it (schemas of tools, arguments of calls, lists of tokens) says
/// nothing about where it goes: what is not read costs no memory.
/// Thread-safety: pure.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/json.h"

namespace layard::gateway {

/// Values that are kept of one body.
inline constexpr std::size_t kBodyValuesMax = 262'144;
/// Levels of a body, whether they are read or not.
inline constexpr std::size_t kBodyDepthMax = 512;

/// Members below the top that messages, parts of a content and tools are read from.
inline constexpr std::array<std::string_view, 20> kMessageMembers = {
    "role",     "content",   "type",      "text",        "name",       "function", "custom",
    "output",   "source",    "data",      "media_type",  "url",        "file_id",  "file_data",
    "file_url", "image_url", "video_url", "input_audio", "image_file", "file",
};

/// Checks that `body` is one JSON object and keeps the members `top` of it and, of objects below,
/// the members `below`. Of a name that stands twice the last value counts. Numbers that follow one
/// another in a list are kept as one. Errors: kInvalidRequest: no JSON (line, column and pointer of
/// the place), no object, nested deeper than kBodyDepthMax, or more than kBodyValuesMax values to
/// keep.
Result<base::JsonValue> read_body_tree(std::string_view body, std::span<const std::string_view> top,
                                       std::span<const std::string_view> below = kMessageMembers);

/// `a string`, `a list`, ... : what was found, for messages.
std::string_view kind_words(base::JsonKind kind);

/// kInvalidRequest: `WHERE must be WANTED; found a string`.
Error wrong_kind(std::string_view where, std::string_view wanted, const base::JsonValue& found);

}  // namespace layard::gateway
