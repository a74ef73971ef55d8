#include "backends/cpu/pass_plan.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace layard::backends::cpu {
namespace {

// A tile of queries of the widest kernel, four times: less would pack keys too often.
constexpr std::size_t kQueriesMin = 56;

void cut(std::size_t row, std::size_t queries, std::size_t step, std::vector<QueryChunk>& chunks) {
  for (std::size_t begin = 0; begin < queries; begin += step) {
    chunks.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(begin),
                      static_cast<std::uint32_t>(std::min(begin + step, queries))});
  }
}

}  // namespace

void PassPlan::build(std::span<const encoder::ModelRow> rows, const Options& options) {
  rows_.clear();
  token_rows_.clear();
  selected_.clear();
  full_.clear();
  sliding_.clear();
  selected_chunks_.clear();
  tokens_ = 0;
  longest_ = 0;
  for (const encoder::ModelRow& row : rows) {
    rows_.push_back({&row, tokens_, row.ids.size(), selected_.size(), row.markers.size() + 1});
    token_rows_.insert(token_rows_.end(), row.ids.size(),
                       static_cast<std::uint32_t>(rows_.size() - 1));
    selected_.push_back(0);
    selected_.insert(selected_.end(), row.markers.begin(), row.markers.end());
    tokens_ += row.ids.size();
    longest_ = std::max(longest_, row.ids.size());
  }
  const std::size_t step =
      std::max(kQueriesMin, tokens_ * options.heads / std::max<std::size_t>(1, options.parts_min));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    cut(r, rows_[r].tokens, std::min(step, kernels::kQueriesPerCallFull), full_);
    cut(r, rows_[r].tokens, std::min(step, kernels::kQueriesPerCallSliding), sliding_);
    cut(r, rows_[r].selected, kernels::kQueriesPerCallFull, selected_chunks_);
  }
}

}  // namespace layard::backends::cpu
