/// Operands of one matrix product in the layout of its kernels, filled, and the clock that such
/// products are timed with.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "kernels/kernels.h"

namespace layard::bench {

/// Processor time of this thread: what others do on a shared machine counts least.
inline double seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Floats on their own cache lines, random in [-1, 1): products of zeros use less power, and with
/// it other clocks, than real ones.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t count)
      : data_(static_cast<float*>(::operator new (count * sizeof(float), std::align_val_t{64}))) {
    std::uint32_t seed = 1;
    for (std::size_t i = 0; i < count; ++i) {
      seed = seed * 1664525U + 1013904223U;
      data_[i] = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31F;
    }
  }
  ~AlignedFloats() { ::operator delete (data_, std::align_val_t{64}); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;

  float* data() const { return data_; }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(data_); }

 private:
  float* data_;
};

struct GemmShape {
  std::size_t n;
  std::size_t k;
  kernels::Activation activation;
};

/// Operands of products of m rows with `sets` weight matrices of the same shape.
class GemmOperands {
 public:
  GemmOperands(const kernels::LinearKernels& linear, std::size_t m, const GemmShape& shape,
               std::size_t sets)
      : linear_(linear),
        m_(m),
        shape_(shape),
        gated_(shape.activation == kernels::Activation::kGeluGate),
        panels_(kernels::panel_count(linear, shape.n, gated_)),
        set_bytes_(panels_ * linear.panel_bytes(shape.k)),
        a_(operand_bytes() / sizeof(float)),
        w_(sets * set_bytes_ / sizeof(float)),
        c_(m * (shape.n + kPadding)),
        scratch_(linear.scratch_bytes(shape.k) / sizeof(float)) {
    const AlignedFloats source(shape.k * (1 + linear.panel_columns));
    std::vector<const void*> rows;
    for (std::size_t i = 0; i < linear.panel_columns; ++i) {
      rows.push_back(source.data() + (1 + i) * shape.k);
    }
    std::byte* panel = w_.bytes();
    for (std::size_t i = 0; i < sets * panels_; ++i, panel += linear.panel_bytes(shape.k)) {
      linear.pack_panel(rows.data(), kernels::ElementType::kFloat32, shape.k, panel);
    }
    if (linear.prepare == nullptr) return;
    for (std::size_t r = 0; r < m; ++r) linear.prepare(source.data(), shape.k, r, a_.bytes());
  }

  /// One product with the weights of `set`.
  void multiply(std::size_t set) const {
    kernels::GemmArgs args;
    args.a = a_.bytes();
    args.a_stride = row_bytes();
    args.w = {&linear_, w_.bytes() + set * set_bytes_, nullptr, shape_.n, shape_.k, gated_};
    args.activation = shape_.activation;
    args.c = c_.data();
    args.ldc = shape_.n + kPadding;
    linear_.gemm(args, {0, m_}, {0, panels_}, scratch_.bytes());
  }

  /// Floating-point operations of one product.
  double operations() const {
    return 2.0 * static_cast<double>(m_ * shape_.n * shape_.k) * (gated_ ? 2.0 : 1.0);
  }

 private:
  static constexpr std::size_t kPadding = 16;  // rows do not fall on the same cache sets

  std::size_t row_bytes() const { return (shape_.k + kPadding) * sizeof(float); }
  std::size_t operand_bytes() const {
    return linear_.prepare == nullptr ? m_ * row_bytes() : linear_.operand_bytes(m_, shape_.k);
  }

  const kernels::LinearKernels& linear_;
  std::size_t m_;
  GemmShape shape_;
  bool gated_;
  std::size_t panels_;
  std::size_t set_bytes_;
  AlignedFloats a_;
  AlignedFloats w_;
  AlignedFloats c_;
  AlignedFloats scratch_;
};

}  // namespace layard::bench
