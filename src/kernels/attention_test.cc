// Attention against double precision: windows, option masks, selected queries, every tail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/test_tables.h"

namespace layard::kernels {
namespace {

struct Case {
  std::size_t tokens;
  std::size_t head_dim;
  std::size_t half_window = AttentionArgs::kNoWindow;
  bool parallel = false;
  std::vector<std::int32_t> selected = {};
};

/// One head inside a wider qkv row, its neighbours poisoned.
class Head {
 public:
  explicit Head(Case c) : case_(std::move(c)), ld_(3 * case_.head_dim + 7) {
    const std::size_t d = case_.head_dim;
    qkv_.assign(case_.tokens * ld_, std::numeric_limits<float>::quiet_NaN());
    const std::vector<float> values = random_floats(case_.tokens * 3 * d, 21, 2.0F);
    for (std::size_t t = 0; t < case_.tokens; ++t) {
      std::copy_n(&values[t * 3 * d], 3 * d, &qkv_[t * ld_ + 2]);
    }
    for (const std::int32_t token : case_.selected) {
      const float* q = &qkv_[static_cast<std::size_t>(token) * ld_ + 2];
      queries_.insert(queries_.end(), q, q + d);
    }
    if (case_.parallel) lay_out_options();
  }

  std::size_t queries() const {
    return case_.selected.empty() ? case_.tokens : case_.selected.size();
  }

  std::vector<float> run(const KernelTable& table, std::size_t step) const {
    const std::size_t d = case_.head_dim;
    std::vector<float> out(queries() * d, 99.0F);
    AttentionArgs args;
    args.q = case_.selected.empty() ? qkv_.data() + 2 : queries_.data();
    args.ld_q = case_.selected.empty() ? ld_ : d;
    args.query_tokens = case_.selected.empty() ? nullptr : case_.selected.data();
    args.k = qkv_.data() + 2 + d;
    args.v = qkv_.data() + 2 + 2 * d;
    args.ld_kv = ld_;
    args.tokens = case_.tokens;
    args.head_dim = d;
    args.scale = 0.35F;
    args.half_window = case_.half_window;
    args.positions = case_.parallel ? positions_.data() : nullptr;
    args.options = case_.parallel ? options_.data() : nullptr;
    args.out = out.data();
    args.ld_out = d;
    std::vector<float> scratch(table.attention_scratch_floats(case_.tokens, d),
                               std::numeric_limits<float>::quiet_NaN());
    for (std::size_t q = 0; q < queries(); q += step) {
      table.attention(args, {q, std::min(q + step, queries())}, scratch.data());
    }
    return out;
  }

  void check(const KernelTable& table) const {
    const std::vector<float> got = run(table, queries());
    for (std::size_t q = 0; q < queries(); ++q) {
      const std::vector<double> expected = exact(q);
      for (std::size_t c = 0; c < case_.head_dim; ++c) {
        ASSERT_NEAR(got[q * case_.head_dim + c], expected[c], 3e-6)
            << table.name << " tokens " << case_.tokens << " dim " << case_.head_dim << " query "
            << q << " column " << c;
      }
    }
    EXPECT_TRUE(same_bits(got, run(table, 5))) << table.name << ": depends on the split";
  }

 private:
  // Tokens from 3 on, in spans of four that share positions, then common text.
  void lay_out_options() {
    for (std::size_t t = 0; t < case_.tokens; ++t) {
      const bool in_option = t >= 3 && t < 3 + 12;
      positions_.push_back(static_cast<std::int32_t>(t < 3       ? t
                                                     : in_option ? 3 + (t - 3) % 4
                                                                 : t - 8));
      options_.push_back(in_option ? static_cast<std::int32_t>(1 + (t - 3) / 4) : 0);
    }
  }

  bool visible(std::size_t i, std::size_t j) const {
    auto distance = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(j);
    if (case_.parallel) {
      distance = positions_[i] - positions_[j];
      if (options_[i] != 0 && options_[j] != 0 && options_[i] != options_[j]) return false;
    }
    return std::llabs(distance) <= static_cast<std::int64_t>(case_.half_window);
  }

  std::vector<double> exact(std::size_t query) const {
    const std::size_t d = case_.head_dim;
    const std::size_t token =
        case_.selected.empty() ? query : static_cast<std::size_t>(case_.selected[query]);
    std::vector<double> out(d);
    double total = 0;
    for (std::size_t j = 0; j < case_.tokens; ++j) {
      if (!visible(token, j)) continue;
      double dot = 0;
      for (std::size_t c = 0; c < d; ++c) {
        dot += static_cast<double>(qkv_[token * ld_ + 2 + c]) * qkv_[j * ld_ + 2 + d + c];
      }
      const double p = std::exp(0.35F * dot);
      total += p;
      for (std::size_t c = 0; c < d; ++c) out[c] += p * qkv_[j * ld_ + 2 + 2 * d + c];
    }
    for (double& value : out) value /= total;
    return out;
  }

  Case case_;
  std::size_t ld_;
  std::vector<float> qkv_, queries_;
  std::vector<std::int32_t> positions_, options_;
};

TEST(Kernels, AttentionFullEveryLength) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t tokens = 1; tokens <= 70; ++tokens) Head({tokens, 8}).check(*table);
    for (std::size_t dim = 1; dim <= 70; ++dim) Head({11, dim}).check(*table);
  }
}

TEST(Kernels, AttentionSlidingWindow) {
  for (const KernelTable* table : test_tables()) {
    for (const std::size_t half : {0, 1, 4, 16, 64}) {
      for (const std::size_t tokens : {1, 5, 20, 64, 65, 128, 150}) {
        Head({tokens, 16, half}).check(*table);
      }
    }
  }
}

TEST(Kernels, AttentionParallelOptions) {
  for (const KernelTable* table : test_tables()) {
    for (const std::size_t half : {AttentionArgs::kNoWindow, static_cast<std::size_t>(3)}) {
      for (const std::size_t tokens : {4, 9, 15, 40}) Head({tokens, 16, half, true}).check(*table);
    }
  }
}

TEST(Kernels, AttentionSelectedQueries) {
  for (const KernelTable* table : test_tables()) {
    Head({50, 16, AttentionArgs::kNoWindow, false, {0}}).check(*table);
    Head({50, 16, AttentionArgs::kNoWindow, false, {0, 7, 11, 30, 49}}).check(*table);
    Head({50, 16, AttentionArgs::kNoWindow, true, {0, 3, 7, 11}}).check(*table);
  }
}

TEST(Kernels, AttentionOfSharpScores) {
  for (const KernelTable* table : test_tables()) {
    // One key dominates by far: the others must vanish without a NaN.
    const std::vector<float> q = {100.0F, 0.0F};
    const std::vector<float> kv = {-10.0F, 1.0F, 5.0F, 6.0F, 10.0F, 1.0F, 7.0F, 8.0F};
    AttentionArgs args;
    args.q = q.data();
    args.ld_q = 2;
    args.k = kv.data();
    args.v = kv.data() + 2;
    args.ld_kv = 4;
    args.tokens = 2;
    args.head_dim = 2;
    const std::vector<std::int32_t> first = {0};
    args.query_tokens = first.data();
    std::vector<float> out(2);
    args.out = out.data();
    args.ld_out = 2;
    std::vector<float> scratch(table->attention_scratch_floats(2, 2));
    table->attention(args, {0, 1}, scratch.data());
    EXPECT_EQ(out, (std::vector<float>{7.0F, 8.0F})) << table->name;
  }
}

}  // namespace
}  // namespace layard::kernels
