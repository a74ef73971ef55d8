/// The writer's style for a caller's layout.
#pragma once

#include "base/json.h"
#include "layard/question.h"

namespace layard::runtime {

inline base::JsonStyle json_style(JsonLayout layout) {
  switch (layout) {
    case JsonLayout::kIndented:
      return base::JsonStyle::kIndent1;
    case JsonLayout::kSpaced:
      return base::JsonStyle::kPython;
    case JsonLayout::kCompact:
      break;
  }
  return base::JsonStyle::kCompact;
}

}  // namespace layard::runtime
