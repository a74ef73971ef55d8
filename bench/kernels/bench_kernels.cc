// GEMM and the other kernels of every instruction set, beside the measured multiply-add peak of
// the same core in the same run.
//
// Usage: layard_bench_kernels [Google Benchmark flags]. `peak` rows are run before, between and
// after; if they differ by more than 5%, something else used the machine: run again. The mean is
// Google Benchmark's; `best` counters take the fastest single call, which a busy neighbour on a
// shared machine disturbs least, against the fastest peak reading around it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/fma_peak.h"
#include "kernels/gemm_operands.h"
#include "kernels/kernels.h"

namespace layard::bench {
namespace {

using kernels::KernelTable;

// One reading of the peak in floating-point operations a second: the best of 20 short ones.
double peak_flops(kernels::Isa isa) {
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    const double start = seconds_now();
    const double operations = run_fma(isa, 100000);
    best = std::max(best, operations / (seconds_now() - start));
  }
  return best;
}

void peak(benchmark::State& state, const KernelTable* table) {
  double operations = 0;
  for (auto _ : state) operations += run_fma(table->isa, 100000);
  state.counters["GFLOP/s"] = benchmark::Counter(operations / 1e9, benchmark::Counter::kIsRate);
}

// Weights of several layers in turn: real weights come from memory, not from a cache.
constexpr std::size_t kWeightSets = 4;

void gemm(benchmark::State& state, const KernelTable* table, const kernels::LinearKernels* linear,
          GemmShape shape) {
  const GemmOperands operands(*linear, static_cast<std::size_t>(state.range(0)), shape,
                              kWeightSets);
  double roof = peak_flops(table->isa);
  double fastest = 1e9;
  std::size_t set = 0;
  for (auto _ : state) {
    const double start = seconds_now();
    operands.multiply(set);
    set = (set + 1) % kWeightSets;
    fastest = std::min(fastest, seconds_now() - start);
  }
  roof = std::max(roof, peak_flops(table->isa));
  const double operations = operands.operations();
  const double total = operations * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(total / 1e9, benchmark::Counter::kIsRate);
  state.counters["best_GFLOP/s"] = operations / fastest / 1e9;
  state.counters["best_of_peak"] = operations / fastest / roof;
}

void attention(benchmark::State& state, const KernelTable* table, std::size_t half_window) {
  const auto tokens = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kDim = 64;
  constexpr std::size_t kLd = 3 * 1024 + 16;
  const AlignedFloats qkv(tokens * kLd);
  const AlignedFloats out(tokens * kDim);
  const AlignedFloats scratch(table->attention_scratch_floats(tokens, kDim));
  const std::size_t step = half_window == kernels::AttentionArgs::kNoWindow
                               ? kernels::kQueriesPerCallFull
                               : kernels::kQueriesPerCallSliding;
  kernels::AttentionArgs args;
  args.q = qkv.data();
  args.ld_q = kLd;
  args.k = qkv.data() + 1024;
  args.v = qkv.data() + 2048;
  args.ld_kv = kLd;
  args.tokens = tokens;
  args.head_dim = kDim;
  args.scale = 0.125F;
  args.half_window = half_window;
  args.out = out.data();
  args.ld_out = kDim;
  for (auto _ : state) {
    for (std::size_t q = 0; q < tokens; q += step) {
      table->attention(args, {q, q + step < tokens ? q + step : tokens}, scratch.data());
    }
  }
  const double pairs = static_cast<double>(tokens) *
                       static_cast<double>(tokens < 2 * half_window ? tokens : 2 * half_window + 1);
  state.counters["GFLOP/s"] =
      benchmark::Counter(pairs * 4.0 * kDim * static_cast<double>(state.iterations()) / 1e9,
                         benchmark::Counter::kIsRate);
}

void row(benchmark::State& state, const KernelTable* table, bool norm) {
  constexpr std::size_t kColumns = 1024;
  const AlignedFloats x(kColumns);
  const AlignedFloats y(kColumns);
  for (auto _ : state) {
    if (norm) {
      table->layer_norm({x.data(), nullptr, 1e-5F, kColumns}, x.data(), y.data());
    } else {
      table->gelu(x.data(), kColumns, y.data());
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kColumns) * state.iterations());
}

void pack(benchmark::State& state, const KernelTable* table) {
  constexpr std::size_t kDepth = 1024;
  const kernels::LinearKernels& linear = table->exact();
  std::vector<std::uint16_t> halves(linear.panel_columns * kDepth, 0x3C00);
  std::vector<const void*> rows;
  for (std::size_t c = 0; c < linear.panel_columns; ++c) rows.push_back(&halves[c * kDepth]);
  const AlignedFloats out(linear.panel_columns * kDepth);
  for (auto _ : state) {
    linear.pack_panel(rows.data(), kernels::ElementType::kFloat16, kDepth, out.bytes());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(halves.size()) * state.iterations());
}

void add_table(const KernelTable* table) {
  using enum kernels::Activation;
  const std::string isa(table->name);
  const auto add_peak = [&](const char* when) {
    benchmark::RegisterBenchmark((isa + "/peak/" + when).c_str(), peak, table);
  };
  constexpr struct {
    const char* name;
    GemmShape shape;
  } kShapes[] = {{"qkv_3072x1024", {3072, 1024, kNone}},
                 {"out_1024x1024", {1024, 1024, kNone}},
                 {"mlp_in_gated_2624x1024", {2624, 1024, kGeluGate}},
                 {"mlp_out_1024x2624", {1024, 2624, kNone}},
                 {"minilm_384x384", {384, 384, kNone}}};
  add_peak("before");
  for (const kernels::LinearKernels* linear : table->linear) {
    for (const auto& entry : kShapes) {
      const std::string name = isa + "/gemm/" + std::string(linear->name) + "/" + entry.name;
      auto* registered =
          benchmark::RegisterBenchmark(name.c_str(), gemm, table, linear, entry.shape);
      for (const int m : {1, 16, 64, 128, 256, 512}) registered->Arg(m);
    }
  }
  add_peak("between");
  for (const int tokens : {64, 128, 512, 2048}) {
    benchmark::RegisterBenchmark((isa + "/attention/full").c_str(), attention, table,
                                 kernels::AttentionArgs::kNoWindow)
        ->Arg(tokens);
    benchmark::RegisterBenchmark((isa + "/attention/sliding").c_str(), attention, table,
                                 static_cast<std::size_t>(64))
        ->Arg(tokens);
  }
  benchmark::RegisterBenchmark((isa + "/layer_norm/1024").c_str(), row, table, true);
  benchmark::RegisterBenchmark((isa + "/gelu/1024").c_str(), row, table, false);
  benchmark::RegisterBenchmark((isa + "/pack_float16").c_str(), pack, table);
  add_peak("after");
}

}  // namespace
}  // namespace layard::bench

int main(int argc, char** argv) {
  const layard::kernels::KernelTable* tables[layard::kernels::kIsas] = {};
  const std::size_t count = layard::kernels::supported_kernels(tables);
  for (std::size_t i = 0; i < count; ++i) layard::bench::add_table(tables[i]);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
