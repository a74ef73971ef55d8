/// Cosines and sines of rotary positions, grown as longer rows come.
#pragma once

#include <cstddef>
#include <vector>

namespace layard::backends::cpu {

/// Thread-safety: one caller of ensure(); readers between its calls.
class RopeTable {
 public:
  /// REQUIRES: head_dim even, theta > 0.
  RopeTable(double theta, std::size_t head_dim) : theta_(theta), half_(head_dim / 2) {}

  /// Makes positions [0, positions) available; allocates only when that is more than ever before.
  void ensure(std::size_t positions);

  std::size_t half() const { return half_; }
  std::size_t positions() const { return half_ == 0 ? 0 : cosine_.size() / half_; }
  /// [half] values of one position: cos and sin of position * theta^(-2j / head_dim), the power and
  /// the product rounded to float32. Source: transformers 5.x modeling_modernbert rotary embedding.
  const float* cosine(std::size_t position) const { return &cosine_[position * half_]; }
  const float* sine(std::size_t position) const { return &sine_[position * half_]; }

 private:
  double theta_;
  std::size_t half_;
  std::vector<float> cosine_;
  std::vector<float> sine_;
};

}  // namespace layard::backends::cpu
