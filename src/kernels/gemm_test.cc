// The matrix product against double precision: tails, blocking, epilogues, and bits that do not
// depend on how the work is split.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

/// One product with operands whose padding is poison: reading past a tail gives NaN, writing past
/// it changes a sentinel.
class Product {
 public:
  Product(const KernelTable& table, Shape shape, Epilogue epilogue)
      : table_(table), shape_(shape), epilogue_(epilogue) {
    const auto [m, n, k] = shape;
    gated_ = epilogue.activation == Activation::kGeluGate;
    weight_rows_ = gated_ ? 2 * n : n;
    lda_ = k + 3;
    a_.assign(m * lda_, kNan);
    const std::vector<float> values = random_floats(m * k, 1);
    for (std::size_t i = 0; i < m; ++i) std::copy_n(&values[i * k], k, &a_[i * lda_]);
    w_ = random_floats(weight_rows_ * k, 2);
    bias_ = random_floats(weight_rows_, 3);
    residual_ = random_floats(m * n, 4);
    pack();
  }

  std::size_t panels() const { return panel_count(table_, shape_.n, gated_); }

  std::vector<float> run(const std::vector<IndexRange>& rows,
                         const std::vector<IndexRange>& panels) const {
    const std::size_t ldc = shape_.n + 5;
    std::vector<float> c(shape_.m * ldc, kSentinel);
    std::vector<float> scratch(table_.gemm_scratch_floats, kNan);
    GemmArgs args;
    args.a = a_.data();
    args.lda = lda_;
    args.w = {packed_.data(), epilogue_.bias ? packed_bias_.data() : nullptr, shape_.n, shape_.k,
              gated_};
    args.activation = epilogue_.activation;
    args.residual = epilogue_.residual ? residual_.data() : nullptr;
    args.ld_residual = shape_.n;
    args.c = c.data();
    args.ldc = ldc;
    for (const IndexRange r : rows) {
      for (const IndexRange p : panels) table_.gemm(args, r, p, scratch.data());
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
        ASSERT_NEAR(got[i * shape_.n + j], expected, 1e-6 + 4e-7 * size)
            << table_.name << " m " << shape_.m << " n " << shape_.n << " k " << shape_.k << " at "
            << i << ", " << j;
      }
    }
  }

 private:
  static constexpr float kSentinel = 12345.0F;

  void pack() {
    const std::size_t width = table_.panel_columns;
    const std::size_t columns = gated_ ? width / 2 : width;
    packed_.assign(panels() * width * shape_.k, kNan);
    packed_bias_.assign(panels() * width, 0.0F);
    std::vector<const void*> rows(width);
    for (std::size_t p = 0; p < panels(); ++p) {
      for (std::size_t c = 0; c < width; ++c) {
        const std::size_t column = p * columns + c % columns;
        const std::size_t row = column + (c < columns ? 0 : shape_.n);
        rows[c] = column < shape_.n ? &w_[row * shape_.k] : nullptr;
        if (column < shape_.n) packed_bias_[p * width + c] = bias_[row];
      }
      table_.pack_panel(rows.data(), ElementType::kFloat32, shape_.k,
                        &packed_[p * width * shape_.k]);
    }
  }

  double product(std::size_t i, std::size_t row, double& size) const {
    double sum = epilogue_.bias ? static_cast<double>(bias_[row]) : 0.0;
    for (std::size_t x = 0; x < shape_.k; ++x) {
      const double term = static_cast<double>(a_[i * lda_ + x]) * w_[row * shape_.k + x];
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
  Shape shape_;
  Epilogue epilogue_;
  bool gated_;
  std::size_t weight_rows_;
  std::size_t lda_;
  std::vector<float> a_, w_, bias_, residual_, packed_, packed_bias_;
};

TEST(Kernels, GemmAllSmallTails) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t m = 1; m <= 16; ++m) {
      for (std::size_t n = 1; n <= 36; ++n) {
        for (const std::size_t k : {1, 2, 7, 17}) Product(*table, {m, n, k}, {}).check();
      }
    }
  }
}

TEST(Kernels, GemmEveryHeightWidthAndDepth) {
  for (const KernelTable* table : test_tables()) {
    for (std::size_t m = 1; m <= 70; ++m) Product(*table, {m, 33 + m % 7, 19}, {}).check();
    for (std::size_t n = 1; n <= 100; ++n) Product(*table, {3 + n % 13, n, 11}, {}).check();
    for (std::size_t k = 1; k <= 130; ++k)
      Product(*table, {5 + k % 11, 20 + k % 31, k}, {}).check();
  }
}

TEST(Kernels, GemmEpilogues) {
  using enum Activation;
  for (const KernelTable* table : test_tables()) {
    for (const Activation activation : {kNone, kRelu, kGelu, kGeluGate}) {
      for (const bool bias : {false, true}) {
        for (const bool residual : {false, true}) {
          for (const Shape shape : {Shape{7, 9, 5}, Shape{16, 32, 24}, Shape{29, 67, 40}}) {
            Product(*table, shape, {activation, bias, residual}).check();
          }
        }
      }
    }
  }
}

TEST(Kernels, GemmBeyondOneBlock) {
  for (const KernelTable* table : test_tables()) {
    Product(*table, {9, 40, 1030}, {Activation::kNone, true, true}).check();
    Product(*table, {515, 33, 20}, {}).check();
    Product(*table, {20, 300, 257}, {Activation::kRelu, true, false}).check();
  }
}

TEST(Kernels, GemmBitsDoNotDependOnTheSplit) {
  for (const KernelTable* table : test_tables()) {
    const Product product(*table, {61, 150, 300}, {Activation::kGeluGate, true, true});
    const std::vector<float> whole = product.run();
    std::vector<IndexRange> rows;
    for (std::size_t i = 0; i < 61; ++i) rows.push_back({i, i + 1});
    std::vector<IndexRange> panels;
    for (std::size_t p = product.panels(); p-- > 0;) panels.push_back({p, p + 1});
    EXPECT_TRUE(same_bits(whole, product.run(rows, panels))) << table->name;
    EXPECT_TRUE(same_bits(whole, product.run({{0, 23}, {23, 61}}, {{0, product.panels()}})));
  }
}

TEST(Kernels, EmulatedEqualsAvx512Bits) {
  const KernelTable* real = find_kernels(Isa::kAvx512);
  if (real == nullptr) GTEST_SKIP() << "this processor has no AVX-512";
  for (const Shape shape : {Shape{31, 70, 300}, Shape{3, 5, 9}}) {
    const Epilogue epilogue{Activation::kGeluGate, true, true};
    EXPECT_TRUE(same_bits(Product(*real, shape, epilogue).run(),
                          Product(kEmulated512, shape, epilogue).run()));
  }
}

}  // namespace
}  // namespace layard::kernels
