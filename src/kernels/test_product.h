/// For tests: one matrix product with poisoned surroundings, checked against double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>

#include "kernels/rotation_signs.h"
#include "kernels/test_tables.h"

namespace layard::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};
struct Epilogue {
  Activation activation = Activation::kNone;
  bool bias = false;
  bool residual = false;
};

double gelu_exact(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }

/// Bytes at a 64-byte boundary, filled with a pattern that is NaN as float32 and as bfloat16.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size) : memory_(size + 64, std::byte{0xFF}) {
    void* at = memory_.data();
    std::size_t space = memory_.size();
    data_ = static_cast<std::byte*>(std::align(64, size, at, space));
  }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
};

/// What values the operands take, so that a format's own rounding does not hide a wrong index.
enum class Values : std::uint8_t {
  kReal,      ///< any float
  kHalf,      ///< weights exact in float16, rows any float
  kBrain,     ///< both exact in bfloat16
  kIntegers,  ///< both exact in int8 at their own scales, once rotated
};

float rounded_to(float x, int bits) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

/// The block whose rotation (rotation-inl.h) is q: exact where q are small integers.
inline std::vector<float> unrotated(const std::vector<int>& q) {
  std::vector<float> x(kRotation);
  for (std::size_t j = 0; j < kRotation; ++j) {
    int sum = 0;
    for (std::size_t i = 0; i < kRotation; ++i) sum += std::popcount(i & j) % 2 != 0 ? -q[i] : q[i];
    x[j] = rotation_sign(j) * static_cast<float>(sum) / static_cast<float>(kRotation);
  }
  return x;
}

/// A row that rotates to integers up to `most`, which is among them: whole blocks of any such
/// integers, then one value in the block that the row's end cuts.
inline void integer_row(std::mt19937& random, int most, std::span<float> row) {
  std::uniform_int_distribution<int> any(-most, most);
  std::size_t first = 0;
  for (; first + kRotation <= row.size(); first += kRotation) {
    std::vector<int> q(kRotation);
    for (int& value : q) value = any(random);
    q[random() % kRotation] = most;
    const std::vector<float> x = unrotated(q);
    std::copy(x.begin(), x.end(), row.begin() + static_cast<std::ptrdiff_t>(first));
  }
  if (first == row.size()) return;
  const auto tail = row.subspan(first);
  std::fill(tail.begin(), tail.end(), 0.0F);
  tail[random() % tail.size()] =
      random() % 2 == 0 ? static_cast<float>(most) : -static_cast<float>(most);
}

/// One product with operands whose padding is poison: reading past a tail gives NaN, writing past
/// it changes a sentinel.
class Product {
 public:
  struct Kind {
    LinearFormat format = LinearFormat::kFloat32;
    Values values = Values::kReal;
    double tolerance = 4e-7;  ///< relative to the sum of absolute products
  };

  Product(const KernelTable& table, Shape shape, Epilogue epilogue)
      : Product(table, shape, epilogue, Kind()) {}
  Product(const KernelTable& table, Shape shape, Epilogue epilogue, Kind kind)
      : table_(table),
        linear_(table.of(kind.format)),
        shape_(shape),
        epilogue_(epilogue),
        kind_(kind),
        gated_(epilogue.activation == Activation::kGeluGate),
        weight_rows_(gated_ ? 2 * shape.n : shape.n),
        a_(random_floats(shape.m * shape.k, 1)),
        w_(random_floats(weight_rows_ * shape.k, 2)),
        bias_(random_floats(weight_rows_, 3)),
        residual_(random_floats(shape.m * shape.n, 4)),
        panel_bytes_(linear_.panel_bytes(shape.k)),
        packed_(panels() * panel_bytes_),
        row_bytes_((shape.k + 3) * sizeof(float)),
        rows_(linear_.prepare == nullptr ? shape.m * row_bytes_
                                         : linear_.operand_bytes(shape.m, shape.k)) {
    round_values();
    pack();
    for (std::size_t i = 0; i < shape.m; ++i) {
      if (linear_.prepare != nullptr) {
        const std::vector<float> exact(&a_[i * shape.k], &a_[i * shape.k] + shape.k);
        linear_.prepare(exact.data(), shape.k, i, rows_.data());
      } else {
        std::memcpy(rows_.data() + i * row_bytes_, &a_[i * shape.k], shape.k * sizeof(float));
      }
    }
  }

  std::size_t panels() const { return panel_count(linear_, shape_.n, gated_); }

  std::vector<float> run(const std::vector<IndexRange>& rows,
                         const std::vector<IndexRange>& panels) const {
    const std::size_t ldc = shape_.n + 5;
    std::vector<float> c(shape_.m * ldc, kSentinel);
    const AlignedBytes scratch(linear_.scratch_bytes(shape_.k));
    GemmArgs args;
    args.a = rows_.data();
    args.a_stride = row_bytes_;
    args.w = {&linear_, packed_.data(), epilogue_.bias ? packed_bias_.data() : nullptr,
              shape_.n, shape_.k,       gated_};
    args.activation = epilogue_.activation;
    args.residual = epilogue_.residual ? residual_.data() : nullptr;
    args.ld_residual = shape_.n;
    args.c = c.data();
    args.ldc = ldc;
    for (const IndexRange r : rows) {
      for (const IndexRange p : panels) linear_.gemm(args, r, p, scratch.data());
    }
    std::vector<float> out;
    for (std::size_t i = 0; i < shape_.m; ++i) {
      const float* row = &c[i * ldc];
      out.insert(out.end(), row, row + shape_.n);
      for (std::size_t j = shape_.n; j < ldc; ++j) EXPECT_EQ(row[j], kSentinel);
    }
    return out;
  }

  std::vector<float> run() const { return run({{0, shape_.m}}, {{0, panels()}}); }

  void check() const {
    const std::vector<float> got = run();
    for (std::size_t i = 0; i < shape_.m; ++i) {
      for (std::size_t j = 0; j < shape_.n; ++j) {
        double size = 0;
        const double expected = element(i, j, size);
        ASSERT_NEAR(got[i * shape_.n + j], expected, 1e-6 + kind_.tolerance * size)
            << table_.name << ", " << linear_.name << " m " << shape_.m << " n " << shape_.n
            << " k " << shape_.k << " at " << i << ", " << j;
      }
    }
  }

 private:
  static constexpr float kSentinel = 12345.0F;

  void round_values() {
    for (float& w : w_) {
      if (kind_.values == Values::kHalf) w = rounded_to(w, 11);
      if (kind_.values == Values::kBrain) w = rounded_to(w, 8);
    }
    for (float& a : a_) {
      if (kind_.values == Values::kBrain) a = rounded_to(a, 8);
    }
    if (kind_.values != Values::kIntegers || shape_.k == 0) return;
    // Activations have three values, which are whole numbers of any scale's steps.
    std::mt19937 random(5);
    const std::size_t k = shape_.k;
    for (std::size_t i = 0; i < weight_rows_; ++i) integer_row(random, 127, {&w_[i * k], k});
    for (std::size_t i = 0; i < shape_.m; ++i) integer_row(random, 1, {&a_[i * k], k});
  }

  void pack() {
    const std::size_t width = linear_.panel_columns;
    const std::size_t columns = gated_ ? width / 2 : width;
    packed_bias_.assign(panels() * width, 0.0F);
    std::vector<const void*> rows(width);
    for (std::size_t p = 0; p < panels(); ++p) {
      for (std::size_t c = 0; c < width; ++c) {
        const std::size_t column = p * columns + c % columns;
        const std::size_t row = column + (c < columns ? 0 : shape_.n);
        rows[c] = column < shape_.n ? &w_[row * shape_.k] : nullptr;
        if (column < shape_.n) packed_bias_[p * width + c] = bias_[row];
      }
      linear_.pack_panel(rows.data(), ElementType::kFloat32, shape_.k,
                         packed_.data() + p * panel_bytes_);
    }
  }

  double product(std::size_t i, std::size_t row, double& size) const {
    double sum = epilogue_.bias ? static_cast<double>(bias_[row]) : 0.0;
    for (std::size_t x = 0; x < shape_.k; ++x) {
      const double term = static_cast<double>(a_[i * shape_.k + x]) * w_[row * shape_.k + x];
      sum += term;
      size += std::fabs(term);
    }
    return sum;
  }

  double element(std::size_t i, std::size_t j, double& size) const {
    double value = product(i, j, size);
    if (epilogue_.activation == Activation::kRelu) value = std::max(value, 0.0);
    if (epilogue_.activation == Activation::kGelu) value = gelu_exact(value);
    if (gated_) {
      double gate_size = 0;
      const double gate = product(i, j + shape_.n, gate_size);
      size = (size + 1) * (gate_size + 1);
      value = gelu_exact(value) * gate;
    }
    return value + (epilogue_.residual ? static_cast<double>(residual_[i * shape_.n + j]) : 0.0);
  }

  const KernelTable& table_;
  const LinearKernels& linear_;
  Shape shape_;
  Epilogue epilogue_;
  Kind kind_;
  bool gated_;
  std::size_t weight_rows_;
  std::vector<float> a_, w_, bias_, residual_;
  std::size_t panel_bytes_;
  AlignedBytes packed_;
  std::vector<float> packed_bias_;
  std::size_t row_bytes_;  ///< of float32 rows, with poison after each
  AlignedBytes rows_;
};

}  // namespace
}  // namespace layard::kernels
