#include "tokenizer/model/bpe/seams.h"

#include <algorithm>
#include <bit>

namespace layard::tokenizer {
namespace {

// The initial symbols at the two ends of a symbol.
constexpr std::uint32_t kUnreachable = 0xFFFFFFFFU;
struct Ends {
  std::uint32_t first = kUnreachable;
  std::uint32_t last = kUnreachable;
};

// Numbers of the rules in order of length (a counting sort), so that parts come before wholes.
std::vector<std::uint32_t> shortest_first(const std::vector<MergeRule>& rules) {
  std::uint32_t bytes_max = 0;
  for (const MergeRule& rule : rules) bytes_max = std::max(bytes_max, rule.bytes);
  std::vector<std::uint32_t> next(std::size_t{bytes_max} + 2);
  for (const MergeRule& rule : rules) ++next[rule.bytes + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<std::uint32_t> order(rules.size());
  for (std::uint32_t i = 0; i < rules.size(); ++i) order[next[rules[i].bytes]++] = i;
  return order;
}

}  // namespace

void Seams::build(const std::vector<MergeRule>& rules, const std::vector<bool>& initial) {
  slots_.clear();
  std::vector<Ends> ends(initial.size());
  for (std::uint32_t id = 0; id < ends.size(); ++id) {
    if (initial[id]) ends[id] = {id, id};
  }
  resize(4096);
  for (const std::uint32_t i : shortest_first(rules)) {
    const MergeRule& rule = rules[i];
    const Ends left = ends[rule.left];
    const Ends right = ends[rule.right];
    // Nothing makes one of the parts: the rule never applies.
    if (left.first == kUnreachable || right.first == kUnreachable) continue;
    Ends& known = ends[rule.merged];
    const bool unknown = known.first == kUnreachable;
    if (!unknown && (known.first != left.first || known.last != right.last)) {
      slots_.clear();
      return;
    }
    known = {left.first, right.last};
    insert(pack(left.last, right.first));
  }
}

void Seams::resize(std::size_t slots) {
  std::vector<std::uint64_t> before(slots, kFree);
  before.swap(slots_);
  mask_ = slots - 1;
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  used_ = 0;
  for (const std::uint64_t key : before) {
    if (key != kFree) insert(key);
  }
}

void Seams::insert(std::uint64_t key) {
  if ((used_ + 1) * 2 > slots_.size()) resize(slots_.size() * 2);
  std::size_t at = home(key);
  while (slots_[at] != kFree && slots_[at] != key) at = (at + 1) & mask_;
  if (slots_[at] == kFree) ++used_;
  slots_[at] = key;
}

}  // namespace layard::tokenizer
