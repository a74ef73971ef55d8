#include <cstddef>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "decision/codec.h"
#include "layard/question.h"

namespace layard {
namespace {

// A text that opens more containers, or holds more values, than the parser takes: no prose does.
bool is_over_limits(std::string_view text, const base::JsonLimits& limits) {
  std::size_t depth = 0;
  std::size_t commas = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limits.depth_max) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      ++commas;
    }
  }
  return text.size() > limits.bytes_max || commas >= limits.nodes_max;
}

}  // namespace

Result<State> context_from_text(std::string_view text) {
  if (!base::is_valid_utf8(text)) {
    return Error{ErrorCode::kInvalidRequest, "the context is not valid UTF-8; convert it first"};
  }
  if (text.starts_with('[') || text.starts_with('{')) {
    auto value = base::parse_json(text, base::JsonLimits{});
    if (value.ok()) return decision::read_state(*value);
    if (is_over_limits(text, base::JsonLimits{})) return std::move(value).error();
  }
  return State{std::string(text), false, false};
}

}  // namespace layard
