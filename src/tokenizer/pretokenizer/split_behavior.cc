#include "tokenizer/pretokenizer/split_behavior.h"

#include <utility>

namespace layard::tokenizer {
namespace {

// Whether `part` joins the one before it. `previous`: that part, or null at the start.
bool joins(const SplitPart* previous, const SplitPart& part, SplitBehavior behavior) {
  if (previous == nullptr) return false;
  switch (behavior) {
    case SplitBehavior::kMergedWithPrevious:
      return part.is_match && !previous->is_match;
    case SplitBehavior::kMergedWithNext:
      return previous->is_match && !part.is_match;
    case SplitBehavior::kContiguous:
      return previous->is_match == part.is_match;
    default:
      return false;
  }
}

}  // namespace

std::optional<SplitBehavior> split_behavior_named(std::string_view name) {
  constexpr std::pair<std::string_view, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  for (const auto& [known, behavior] : kNames) {
    if (known == name) return behavior;
  }
  return std::nullopt;
}

void add_split(const std::vector<SplitPart>& parts, SplitBehavior behavior, Pieces& pieces) {
  std::size_t begin = 0;
  std::size_t end = 0;
  const SplitPart* previous = nullptr;
  for (const SplitPart& part : parts) {
    if (behavior == SplitBehavior::kRemoved && part.is_match) continue;
    if (!joins(previous, part, behavior)) {
      pieces.add_text(begin, end);
      begin = part.begin;
    }
    end = part.end;
    previous = &part;
  }
  pieces.add_text(begin, end);
}

}  // namespace layard::tokenizer
