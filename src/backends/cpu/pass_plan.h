/// How a set of rows is laid out for one forward pass: ragged, without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/rows.h"

namespace layard::backends::cpu {

/// One row inside a pass. Its tokens are [first_token, first_token + tokens) of the pass, its
/// selected tokens (the first token, then the markers) [first_selected, + selected).
struct PlannedRow {
  const encoder::ModelRow* row = nullptr;
  std::size_t first_token = 0;
  std::size_t tokens = 0;
  std::size_t first_selected = 0;
  std::size_t selected = 0;
};

/// Queries [begin, end) of one row, counted inside the row: one attention call per head.
struct QueryChunk {
  std::uint32_t row = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Thread-safety: one caller of build(); readers between its calls.
class PassPlan {
 public:
  /// `parts_min`: at least this many chunk-and-head pairs where the rows allow it.
  struct Options {
    std::size_t heads = 1;
    std::size_t parts_min = 1;
  };

  /// Lays out `rows`; keeps its memory between calls. REQUIRES: checked rows, at least one.
  void build(std::span<const encoder::ModelRow> rows, const Options& options);

  std::span<const PlannedRow> rows() const { return rows_; }
  std::size_t tokens() const { return tokens_; }
  std::size_t longest() const { return longest_; }
  /// The row of token `t`.
  const PlannedRow& row_of(std::size_t token) const { return rows_[token_rows_[token]]; }

  /// Chunks of all queries for layers that see the whole row, and for sliding layers.
  std::span<const QueryChunk> full_chunks() const { return full_; }
  std::span<const QueryChunk> sliding_chunks() const { return sliding_; }
  /// Chunks of the selected tokens only.
  std::span<const QueryChunk> selected_chunks() const { return selected_chunks_; }

  /// Selected tokens of every row in order, counted inside their row.
  std::span<const std::int32_t> selected() const { return selected_; }

 private:
  std::vector<PlannedRow> rows_;
  std::vector<std::uint32_t> token_rows_;
  std::vector<std::int32_t> selected_;
  std::vector<QueryChunk> full_;
  std::vector<QueryChunk> sliding_;
  std::vector<QueryChunk> selected_chunks_;
  std::size_t tokens_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace layard::backends::cpu
