/// Labelled requests: the file that `layard route eval` reads.
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// Bytes and cases that a file of labelled requests may have.
inline constexpr std::size_t kCasesBytesMax = std::size_t{64} << 20;
inline constexpr std::size_t kCasesMax = 100'000;

/// One labelled request. `language` and `source` are empty where the file does not say.
struct RouteCase {
  std::string class_name;
  std::string text;
  std::string language;
  std::string source;
};

/// Reads `{"cases": [{"class", "text", "language"?, "source"?}], ...}` or JSON Lines of such cases.
/// Errors: kInvalidRequest: not that, no case, a class that is not among `classes`; naming the case
/// or line.
Result<std::vector<RouteCase>> parse_route_cases(std::string_view text,
                                                 const std::vector<std::string>& classes);

/// `text` with two letters swapped inside some of its words of four letters and more: every eighth
/// by a hash of the text, and at least one. The same text where it has no such word.
std::string with_typos(std::string_view text);

}  // namespace layard::gateway
