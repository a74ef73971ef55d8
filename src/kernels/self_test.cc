#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/isa_tables.h"
#include "kernels/kernels.h"

namespace layard::kernels {
namespace {

// A fixed sequence in [-1, 1): the same on every machine.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> out(count);
  for (float& value : out) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31F;
  }
  return out;
}

/// 64-byte aligned memory, zero at first.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : data_(size + 63) {}
  std::byte* at(std::size_t offset) {
    const auto address = reinterpret_cast<std::uintptr_t>(data_.data());
    return data_.data() + (64 - address % 64) % 64 + offset;
  }

 private:
  std::vector<std::byte> data_;
};

Status compare(std::string_view kernel, const KernelTable& table, float limit,
               const std::vector<float>& got, const std::vector<float>& expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float bound = limit * std::fmax(1.0F, std::fabs(expected[i]));
    if (std::fabs(got[i] - expected[i]) <= bound) continue;  // false for NaN
    return Error{ErrorCode::kBackendUnavailable,
                 "self-test of the " + std::string(table.name) +
                     " kernels: " + std::string(kernel) + " gave " + std::to_string(got[i]) +
                     " where " + std::to_string(expected[i]) +
                     " was expected; set LAYARD_FORCE_ISA=scalar and report the processor"};
  }
  return {};
}

// Runs one kernel by both tables. Operations are free functions (table, output).
using Operation = void (*)(const KernelTable&, std::vector<float>&);

constexpr std::size_t kRows = 17;
constexpr std::size_t kColumns = 45;
constexpr std::size_t kDepth = 300;  // more than one chunk of k on every target

/// What a linear layer's self-test multiplies: numbers in [-1, 1), which each format rounds its own
/// way, so each is compared within its own error.
struct GemmCase {
  LinearFormat format = LinearFormat::kFloat32;
  bool gated = false;
  Activation activation = Activation::kNone;
};

void run_gemm(const KernelTable& table, const GemmCase& test, std::vector<float>& out) {
  const LinearKernels& linear = table.of(test.format);
  const std::vector<float> a = numbers(kRows * kDepth, 1);
  const std::size_t weight_rows = test.gated ? 2 * kColumns : kColumns;
  const std::vector<float> w = numbers(weight_rows * kDepth, 2);
  const std::size_t panels = panel_count(linear, kColumns, test.gated);
  const std::size_t width = linear.panel_columns;
  const std::size_t columns = test.gated ? width / 2 : width;
  const std::size_t panel_bytes = linear.panel_bytes(kDepth);
  Bytes packed(panels * panel_bytes);
  std::vector<float> bias(panels * width);
  std::vector<const void*> rows(width);
  for (std::size_t p = 0; p < panels; ++p) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t column = p * columns + c % columns;
      const std::size_t row = column + (c < columns ? 0 : kColumns);
      rows[c] = column < kColumns ? &w[row * kDepth] : nullptr;
      if (column < kColumns) bias[p * width + c] = static_cast<float>(row) * 0.01F;
    }
    linear.pack_panel(rows.data(), ElementType::kFloat32, kDepth, packed.at(p * panel_bytes));
  }
  const std::vector<float> residual = numbers(kRows * kColumns, 3);
  Bytes scratch(linear.scratch_bytes(kDepth));
  constexpr std::size_t kRowBytes = kDepth * sizeof(float);
  Bytes operands(linear.prepare == nullptr ? kRows * kRowBytes
                                           : linear.operand_bytes(kRows, kDepth));
  for (std::size_t r = 0; r < kRows; ++r) {
    if (linear.prepare == nullptr) {
      std::memcpy(operands.at(r * kRowBytes), &a[r * kDepth], kRowBytes);
    } else {
      linear.prepare(&a[r * kDepth], kDepth, r, operands.at(0));
    }
  }
  out.assign(kRows * kColumns, 0.0F);
  GemmArgs args;
  args.a = operands.at(0);
  args.a_stride = kRowBytes;
  args.w = {&linear, packed.at(0), bias.data(), kColumns, kDepth, test.gated};
  args.activation = test.activation;
  args.residual = residual.data();
  args.ld_residual = kColumns;
  args.c = out.data();
  args.ldc = kColumns;
  linear.gemm(args, {0, kRows}, {0, panels}, scratch.at(0));
}

void gemm_plain(const KernelTable& table, std::vector<float>& out) { run_gemm(table, {}, out); }
void gemm_relu(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kFloat32, false, Activation::kRelu}, out);
}
void gemm_gelu(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kFloat32, false, Activation::kGelu}, out);
}
void gemm_gate(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kFloat32, true, Activation::kGeluGate}, out);
}
void gemm_float16_weights(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kFloat16Weights}, out);
}
void gemm_bfloat16_weights(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kBFloat16Weights}, out);
}
void gemm_bfloat16(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kBFloat16}, out);
}
void gemm_int8(const KernelTable& table, std::vector<float>& out) {
  run_gemm(table, {LinearFormat::kInt8}, out);
}

void attention(const KernelTable& table, std::vector<float>& out) {
  constexpr std::size_t kTokens = 40;
  constexpr std::size_t kDim = 24;
  const std::vector<float> qkv = numbers(kTokens * 3 * kDim, 4);
  out.assign(kTokens * kDim, 0.0F);
  AttentionArgs args;
  args.q = qkv.data();
  args.ld_q = 3 * kDim;
  args.k = qkv.data() + kDim;
  args.v = qkv.data() + 2 * kDim;
  args.ld_kv = 3 * kDim;
  args.tokens = kTokens;
  args.head_dim = kDim;
  args.scale = 2.0F;
  args.half_window = 7;
  args.out = out.data();
  args.ld_out = kDim;
  std::vector<float> scratch(table.attention_scratch_floats(kTokens, kDim));
  table.attention(args, {0, kTokens}, scratch.data());
}

void layer_norm(const KernelTable& table, std::vector<float>& out) {
  const std::vector<float> x = numbers(kDepth, 5);
  const std::vector<float> weight = numbers(kDepth, 6);
  const std::vector<float> bias = numbers(kDepth, 7);
  out.assign(kDepth, 0.0F);
  table.layer_norm({weight.data(), bias.data(), 1e-5F, kDepth}, x.data(), out.data());
}

void rope_and_add(const KernelTable& table, std::vector<float>& out) {
  const std::vector<float> angles = numbers(2 * 12, 8);
  out = numbers(3 * 24, 9);
  table.rope(angles.data(), angles.data() + 12, 12, 3, out.data());
  table.add(numbers(out.size(), 10).data(), out.size(), out.data());
}

void functions(const KernelTable& table, std::vector<float>& out) {
  std::vector<float> x = numbers(61, 11);
  for (float& value : x) value *= 6.0F;
  out.assign(4 * x.size() + 1, 0.0F);
  std::vector<float> scaled = x;
  for (float& value : scaled) value = -value * value;
  table.exp(scaled.data(), x.size(), out.data());
  table.erf(x.data(), x.size(), out.data() + x.size());
  table.gelu(x.data(), x.size(), out.data() + 2 * x.size());
  table.softmax(1.5F, x.size(), x.data());
  for (std::size_t i = 0; i < x.size(); ++i) out[3 * x.size() + i] = x[i];
  out.back() = table.dot(out.data(), scaled.data(), scaled.size());
}

void widen(const KernelTable& table, std::vector<float>& out) {
  std::vector<std::uint16_t> halves(45);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(0x3000U + i * 37U + (i % 2 == 0 ? 0x8000U : 0U));
  }
  out.assign(2 * halves.size(), 0.0F);
  table.widen(halves.data(), ElementType::kFloat16, halves.size(), out.data());
  table.widen(halves.data(), ElementType::kBFloat16, halves.size(), out.data() + halves.size());
}

// Bounds hold for sums of kDepth products of numbers below one: float32 rounds at 2e-5 of them at
// most, split rows at 2^-16 of a factor, bfloat16 at 2^-8, int8 at 1/126 of a
// rotated row's largest, which is some three times its spread.
constexpr struct {
  std::string_view name;
  Operation run;
  float bound;
} kOperations[] = {{"gemm", &gemm_plain, 2e-5F},
                   {"gemm with relu", &gemm_relu, 2e-5F},
                   {"gemm with gelu", &gemm_gelu, 2e-5F},
                   {"gemm with gelu gate", &gemm_gate, 5e-5F},
                   {"gemm with float16 weights", &gemm_float16_weights, 5e-4F},
                   {"gemm with bfloat16 weights", &gemm_bfloat16_weights, 5e-4F},
                   {"gemm in bfloat16", &gemm_bfloat16, 0.1F},
                   {"gemm in int8", &gemm_int8, 0.6F},
                   {"attention", &attention, 2e-5F},
                   {"layer norm", &layer_norm, 2e-5F},
                   {"rope and add", &rope_and_add, 2e-5F},
                   {"exp, erf, gelu, softmax, dot", &functions, 2e-5F},
                   {"widen", &widen, 2e-5F}};

}  // namespace

Status self_test(const KernelTable& table) {
  std::vector<float> got;
  std::vector<float> expected;
  for (const auto& operation : kOperations) {
    operation.run(table, got);
    operation.run(scalar_kernels(), expected);
    LAYARD_TRY(compare(operation.name, table, operation.bound, got, expected));
  }
  return {};
}

}  // namespace layard::kernels
