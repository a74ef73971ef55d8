/// For tests: random prompt rows that own their ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "encoder/config.h"
#include "encoder/rows.h"

namespace layard::testing {

/// Rows over a vocabulary of `vocab_size`, built one by one.
class TestRows {
 public:
  explicit TestRows(int vocab_size, unsigned seed = 1) : vocab_size_(vocab_size), random_(seed) {}

  /// A row of `tokens` tokens with up to `options` markers.
  void add(std::size_t tokens, std::size_t options) { add_row(tokens, options, false); }
  /// The same in the parallel option layout.
  void add_parallel(std::size_t tokens, std::size_t options) { add_row(tokens, options, true); }

  const std::vector<encoder::ModelRow>& rows() const { return rows_; }

 private:
  struct Owned {
    std::vector<std::int32_t> ids, markers, positions, options;
  };

  void add_row(std::size_t tokens, std::size_t options, bool parallel) {
    Owned& own = owned_.emplace_back();
    std::uniform_int_distribution<std::int32_t> id(0, vocab_size_ - 1);
    for (std::size_t t = 0; t < tokens; ++t) own.ids.push_back(id(random_));
    // Markers from a third of the row on, two tokens apart where there is room.
    const std::size_t start = tokens / 3;
    for (std::size_t s = 0; s < options && start + 2 * s < tokens; ++s) {
      own.markers.push_back(static_cast<std::int32_t>(start + 2 * s));
    }
    if (parallel) lay_out(own);
    const int type = static_cast<int>(rows_.size() % 3);
    rows_.push_back({own.ids, own.markers, type, own.positions, own.options});
  }

  // Spans of two tokens that share positions; what follows goes on after them.
  static void lay_out(Owned& own) {
    const std::int32_t start = own.markers.front();
    const std::int32_t end = own.markers.back() + 2;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(own.ids.size()); ++t) {
      const bool inside = t >= start && t < end;
      own.positions.push_back(t < start ? t
                              : inside  ? start + (t - start) % 2
                                        : t - end + start + 2);
      own.options.push_back(inside ? 1 + (t - start) / 2 : 0);
    }
  }

  int vocab_size_;
  std::mt19937 random_;
  std::deque<Owned> owned_;
  std::vector<encoder::ModelRow> rows_;
};

}  // namespace layard::testing
