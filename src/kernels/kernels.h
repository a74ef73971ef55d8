/// Arithmetic on raw memory, written once and compiled once per instruction set (ISA).
///
/// A KernelTable is a constant set of functions for one ISA; the caller picks one at start with
/// select_kernels() and passes it down. Invariants: the additions that make one output element
/// have an order that depends only on the ISA and the length of the sum (k, n or the number of
/// visible keys), never on other rows, on how work is split, or on tails; nothing is read or
/// written outside the stated ranges; no function allocates, locks or keeps state.
/// Thread-safety: every function may run on many threads at once as long as outputs and scratch
/// are disjoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "layard/error.h"

namespace layard::kernels {

enum class Isa : std::uint8_t { kScalar, kAvx2, kAvx512, kAmx, kNeon };

/// Instruction sets known here, on any machine.
constexpr std::size_t kIsas = 5;

/// `scalar`, `avx2`, `avx512`, `amx`, `neon`.
std::string_view isa_name(Isa isa);

/// The ISA called `name`, or nothing.
std::optional<Isa> parse_isa(std::string_view name);

/// Stored form of weights.
enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBFloat16 };

/// What a matrix product does to its sums (after the bias).
enum class Activation : std::uint8_t {
  kNone,
  kRelu,
  kGelu,      ///< x * (1 + erf(x / sqrt 2)) / 2
  kGeluGate,  ///< gelu(first half) * second half; the weights must be packed with `gated`
};

/// [begin, end).
struct IndexRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct LinearKernels;

/// A weight matrix W [n, k] cut into panels of `kernels->panel_columns` rows of W, each in the
/// layout of those kernels; rows past the end are zero. Gated: W is [2n, k], panel p holds rows
/// p*half .. of the first n (the activated half) and then the same rows of the second n, with half
/// = panel_columns / 2.
struct PackedMatrix {
  const LinearKernels* kernels = nullptr;
  const std::byte* panels = nullptr;  ///< panel p at p * kernels->panel_bytes(k)
  /// One value per packed row, in panel order, zero past the end; or null.
  const float* bias = nullptr;
  std::size_t n = 0;  ///< output columns
  std::size_t k = 0;
  bool gated = false;
};

/// C[m, n] = activation(A[m, k] W^T + bias) + residual.
struct GemmArgs {
  const std::byte* a = nullptr;  ///< rows of float32, or what LinearKernels::prepare made of them
  /// Bytes from one row of float32 to the next; avoid multiples of 4,096. Not read with prepare.
  std::size_t a_stride = 0;
  PackedMatrix w;
  Activation activation = Activation::kNone;
  const float* residual = nullptr;  ///< [m, n] or null; may be C itself
  std::size_t ld_residual = 0;
  float* c = nullptr;
  std::size_t ldc = 0;
};

/// One way to keep and multiply the weights of a linear layer. Layouts of panels and prepared rows
/// are private to it; every function has the invariants stated above.
struct LinearKernels {
  std::string_view name;
  std::size_t panel_columns = 0;
  /// Panels that one gemm call should get at least, so that A is reused from the L2 cache.
  std::size_t panels_per_call = 0;

  /// Bytes of one panel, a multiple of 4.
  std::size_t (*panel_bytes)(std::size_t k) = nullptr;
  /// Writes one panel from its panel_columns rows of k elements of `type`; a null row is zero.
  /// `panel` must be 64-byte aligned.
  void (*pack_panel)(const void* const* rows, ElementType type, std::size_t k,
                     std::byte* panel) = nullptr;

  /// Bytes of `rows` prepared rows of A; null: gemm reads float32 rows as they are.
  std::size_t (*operand_bytes)(std::size_t rows, std::size_t k) = nullptr;
  /// Puts row `index` of A [k] where and how gemm reads it; `operands` must be 64-byte aligned.
  /// Null with operand_bytes.
  void (*prepare)(const float* row, std::size_t k, std::size_t index,
                  std::byte* operands) = nullptr;
  /// The first row of every gemm call must be a multiple of this.
  std::size_t row_step = 1;

  /// Bytes that one gemm call needs as scratch, 64-byte aligned, one block per thread.
  std::size_t (*scratch_bytes)(std::size_t k) = nullptr;
  /// Computes rows x panels of C. Panels of a gated matrix cover panel_columns / 2 columns of C.
  void (*gemm)(const GemmArgs& args, IndexRange rows, IndexRange panels,
               std::byte* scratch) = nullptr;
};

/// The formats a table offers for linear layers.
enum class LinearFormat : std::uint8_t {
  kFloat32,          ///< any weights, exact: float32 weights and products
  kFloat16Weights,   ///< weights rounded to float16 (exact for float16 checkpoints)
  kBFloat16Weights,  ///< weights rounded to bfloat16 (exact for bfloat16 checkpoints)
  kBFloat16,         ///< weights and activations rounded to bfloat16
  kInt8,             ///< one scale per output column and per row of A
};
constexpr std::size_t kLinearFormats = 5;

/// The deepest k that kInt8 sums in 32 bits without overflow.
constexpr std::size_t kInt8DepthMax = 65'536;

/// Layer norm of one row: (x - mean) / sqrt(variance + eps) * weight + bias.
struct NormArgs {
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< or null
  float eps = 0;
  std::size_t n = 0;
};

/// Softmax attention of one head of one row (a sequence of `tokens` tokens).
/// Key j is visible to query token i when |i - j| <= half_window (|positions[i] - positions[j]|
/// with positions) and not (options[i], options[j] non-zero and different). Every token sees
/// itself.
struct AttentionArgs {
  const float* q = nullptr;  ///< query x at q + x * ld_q
  std::size_t ld_q = 0;
  const float* k = nullptr;  ///< token j at k + j * ld_kv, v + j * ld_kv
  const float* v = nullptr;
  std::size_t ld_kv = 0;
  std::size_t tokens = 0;
  std::size_t head_dim = 0;
  float scale = 1;
  std::size_t half_window = kNoWindow;
  const std::int32_t* query_tokens = nullptr;  ///< token of query x; null: x itself. No window then
  /// [tokens] each, given together or not at all.
  const std::int32_t* positions = nullptr;
  const std::int32_t* options = nullptr;
  float* out = nullptr;  ///< query x at out + x * ld_out
  std::size_t ld_out = 0;

  static constexpr std::size_t kNoWindow = static_cast<std::size_t>(1) << 40;
};

/// Queries per attention call that keep the packing of keys and values cheap beside the products.
constexpr std::size_t kQueriesPerCallFull = 256;
constexpr std::size_t kQueriesPerCallSliding = 128;

struct KernelTable {
  Isa isa = Isa::kScalar;
  /// The ISA's name, or what a test calls its own table.
  std::string_view name;
  /// By LinearFormat, every one set.
  const LinearKernels* linear[kLinearFormats] = {};

  constexpr void set(LinearFormat format, const LinearKernels& kernels) {
    linear[static_cast<std::size_t>(format)] = &kernels;
  }
  const LinearKernels& of(LinearFormat format) const {
    return *linear[static_cast<std::size_t>(format)];
  }
  const LinearKernels& exact() const { return of(LinearFormat::kFloat32); }

  /// Exact widening of n elements; `from` needs no alignment.
  void (*widen)(const void* from, ElementType type, std::size_t n, float* to) = nullptr;

  /// Two passes (mean, then variance), each one fixed tree for n. `out` may be `x`.
  void (*layer_norm)(const NormArgs& args, const float* x, float* out) = nullptr;

  /// x += y.
  void (*add)(const float* y, std::size_t n, float* x) = nullptr;

  /// Rotates `heads` vectors of 2 * half floats by HF's rotate-half rule: pairs (j, j + half).
  void (*rope)(const float* cosine, const float* sine, std::size_t half, std::size_t heads,
               float* x) = nullptr;

  /// Queries [queries.begin, queries.end). The result does not depend on how queries are split.
  /// Scratch: attention_scratch_floats of the keys the call can see (all, or queries + 2 windows).
  void (*attention)(const AttentionArgs& args, IndexRange queries, float* scratch) = nullptr;
  std::size_t (*attention_scratch_floats)(std::size_t keys, std::size_t head_dim) = nullptr;

  /// row = softmax(scale * row), in place.
  void (*softmax)(float scale, std::size_t n, float* row) = nullptr;

  float (*dot)(const float* a, const float* b, std::size_t n) = nullptr;

  /// Relative error at most 2e-7 on [-87, 88]; zero below -87, saturates above 88; NaN stays NaN.
  void (*exp)(const float* x, std::size_t n, float* out) = nullptr;
  /// Absolute error at most 2e-7 everywhere.
  void (*erf)(const float* x, std::size_t n, float* out) = nullptr;
  /// Absolute error at most 2.5e-7 * max(1, |x|).
  void (*gelu)(const float* x, std::size_t n, float* out) = nullptr;
};

/// Panels of a matrix of n output columns.
inline std::size_t panel_count(const LinearKernels& linear, std::size_t n, bool gated) {
  const std::size_t columns = gated ? linear.panel_columns / 2 : linear.panel_columns;
  return (n + columns - 1) / columns;
}

/// Whether this processor and operating system can run `isa` and this build has it.
bool isa_supported(Isa isa);

/// Whether docs/hardware.md holds a record that the whole suite of `isa` has passed on a real
/// processor with just this code. Without one an instruction set is used only when forced.
bool isa_recorded(Isa isa);

/// 16 hex digits that change with the code of `isa` (cmake/KernelHash.cmake) and with which of its
/// kernels this processor gets: results and packed weights of another hash are not those of this
/// build on this processor.
std::string_view isa_code_hash(Isa isa);

/// The table of `isa`, or null when it is not supported here. The table lives for ever.
const KernelTable* find_kernels(Isa isa);

/// Every supported table, the preferred one first; `scalar` is always among them.
std::size_t supported_kernels(const KernelTable* (&tables)[kIsas]);

/// The preferred table among those with a hardware record (scalar needs none), or the one called
/// `forced` when that is not empty.
/// Errors: kInvalidRequest (no such ISA), kBackendUnavailable (not on this machine).
Result<const KernelTable*> select_kernels(std::string_view forced);

/// Compares every kernel of `table` with the scalar one on small fixed inputs; takes a few
/// milliseconds. Errors: kBackendUnavailable naming the kernel that differs.
Status self_test(const KernelTable& table);

}  // namespace layard::kernels
