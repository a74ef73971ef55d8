/// What happens to the delimiter when a piece is split.
/// Source: tokenizers 0.23 (tokenizer/normalizer.rs, NormalizedString::split).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/pieces.h"

namespace layard::tokenizer {

enum class SplitBehavior : unsigned char {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,
};

/// The behaviour a tokenizer.json calls `name` ("Removed", ...), if any.
std::optional<SplitBehavior> split_behavior_named(std::string_view name);

/// A part of a piece, and whether the pattern matched it. Parts cover the piece in order.
struct SplitPart {
  std::size_t begin;
  std::size_t end;
  bool is_match;
};

/// Adds the pieces that `behavior` makes of `parts`.
void add_split(const std::vector<SplitPart>& parts, SplitBehavior behavior, Pieces& pieces);

}  // namespace layard::tokenizer
