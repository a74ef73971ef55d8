// The roofs of this machine: fused multiply-adds, AMX tile products, and bytes read from memory.
//
//   peak CORE[,CORE ...] SECONDS [MIB]     one line of JSON on stdout; MIB are read, 1024 unless
//   said
//
// One thread is pinned to each core. Arithmetic runs on 12 independent register accumulators (four
// tile accumulators for AMX) without loads, in slices of some milliseconds: the best slice is the
// roof, the median tells whether something else used the machine. Needs nothing but a C++ compiler:
//   g++ -O2 -std=c++20 -pthread peak.cc -o peak
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define LAYARD_PEAK_REGISTER "v"
#else
#define LAYARD_PEAK_REGISTER "w"
#endif

namespace {

using Seconds = std::chrono::duration<double>;
// Runs so many rounds and returns the operations done.
using Loop = double (*)(long rounds);

constexpr int kAccumulators = 12;

using Vec4 = float __attribute__((vector_size(16)));
using Vec8 = float __attribute__((vector_size(32)));
using Vec16 = float __attribute__((vector_size(64)));

// The asm lines keep chains apart and alive; each chain waits only for itself.
#define LAYARD_FMA_LOOP(Vec)                                                                  \
  Vec sum[kAccumulators];                                                                     \
  Vec a = Vec{} + 0.999F;                                                                     \
  Vec b = Vec{} + 0.001F;                                                                     \
  asm volatile("" : "+" LAYARD_PEAK_REGISTER(a), "+" LAYARD_PEAK_REGISTER(b));                \
  _Pragma("GCC unroll 12") for (Vec & s : sum) {                                              \
    s = Vec{} + 1.0F;                                                                         \
    asm volatile("" : "+" LAYARD_PEAK_REGISTER(s));                                           \
  }                                                                                           \
  for (long round = 0; round < rounds; ++round) {                                             \
    _Pragma("GCC unroll 12") for (int i = 0; i < kAccumulators; ++i) sum[i] = sum[i] * a + b; \
  }                                                                                           \
  _Pragma("GCC unroll 12") for (Vec & s : sum) asm volatile("" : : LAYARD_PEAK_REGISTER(s));  \
  return static_cast<double>(rounds) * kAccumulators * 2 * (sizeof(Vec) / sizeof(float))

// Sums a range of 64-byte blocks.
#define LAYARD_READ_LOOP(Vec)                                                           \
  constexpr std::size_t kStep = 8;                                                      \
  Vec sum[kStep] = {};                                                                  \
  const auto* p = reinterpret_cast<const Vec*>(data);                                   \
  const std::size_t count = bytes / sizeof(Vec);                                        \
  for (std::size_t i = 0; i + kStep <= count; i += kStep) {                             \
    _Pragma("GCC unroll 8") for (std::size_t j = 0; j < kStep; ++j) sum[j] += p[i + j]; \
  }                                                                                     \
  _Pragma("GCC unroll 8") for (Vec & s : sum) asm volatile("" : : LAYARD_PEAK_REGISTER(s))

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) double fma_avx512(long rounds) { LAYARD_FMA_LOOP(Vec16); }
__attribute__((target("avx2,fma"))) double fma_avx2(long rounds) { LAYARD_FMA_LOOP(Vec8); }
__attribute__((target("avx512f"))) void read_avx512(const float* data, std::size_t bytes) {
  LAYARD_READ_LOOP(Vec16);
}
__attribute__((target("avx2"))) void read_avx2(const float* data, std::size_t bytes) {
  LAYARD_READ_LOOP(Vec8);
}
#undef LAYARD_PEAK_REGISTER
#define LAYARD_PEAK_REGISTER "x"
#endif
double fma_base(long rounds) { LAYARD_FMA_LOOP(Vec4); }
void read_base(const float* data, std::size_t bytes) { LAYARD_READ_LOOP(Vec4); }

struct Machine {
  std::string isa = "base";
  Loop fma = fma_base;
  void (*read)(const float*, std::size_t) = read_base;
  Loop tile_bf16 = nullptr;
  Loop tile_int8 = nullptr;
};

#if defined(__x86_64__)
// Layout that LDTILECFG reads.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
};

// Tiles 0-3 accumulate, 4 and 5 are the factors, as in a 2x2 block of tiles.
#define LAYARD_TILE_LOOP(product, operations)                \
  const TileConfig config;                                   \
  /* g++ 12 thinks that the next line reads only 8 bytes. */ \
  asm volatile("" : : "r"(&config) : "memory");              \
  _tile_loadconfig(&config);                                 \
  _tile_zero(0);                                             \
  _tile_zero(1);                                             \
  _tile_zero(2);                                             \
  _tile_zero(3);                                             \
  _tile_zero(4);                                             \
  _tile_zero(5);                                             \
  for (long round = 0; round < rounds; ++round) {            \
    product(0, 4, 5);                                        \
    product(1, 4, 5);                                        \
    product(2, 4, 5);                                        \
    product(3, 4, 5);                                        \
  }                                                          \
  _tile_release();                                           \
  return static_cast<double>(rounds) * 4 * (operations)

__attribute__((target("amx-tile,amx-bf16"))) double tile_bf16(long rounds) {
  LAYARD_TILE_LOOP(_tile_dpbf16ps, 2.0 * 16 * 16 * 32);
}
__attribute__((target("amx-tile,amx-int8"))) double tile_int8(long rounds) {
  LAYARD_TILE_LOOP(_tile_dpbssd, 2.0 * 16 * 16 * 64);
}

// The kernel hands out tile registers on request, once per process and before threads start.
bool tiles_allowed() {
  constexpr int kArchRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kArchRequestPermission, kTileData) == 0;
}

Machine find_machine() {
  Machine machine;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    machine.isa = "avx2";
    machine.fma = fma_avx2;
    machine.read = read_avx2;
  }
  if (__builtin_cpu_supports("avx512f")) {
    machine.isa = "avx512";
    machine.fma = fma_avx512;
    machine.read = read_avx512;
  }
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kTile = 1U << 24U;
  constexpr unsigned kBf16 = 1U << 22U;
  constexpr unsigned kInt8 = 1U << 25U;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTile) != 0 && tiles_allowed()) {
    machine.isa = "amx";
    if ((d & kBf16) != 0) machine.tile_bf16 = tile_bf16;
    if ((d & kInt8) != 0) machine.tile_int8 = tile_int8;
  }
  return machine;
}
#else
Machine find_machine() {
  Machine machine;
#if defined(__aarch64__)
  machine.isa = "neon";
#endif
  return machine;
}
#endif

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0) {
    std::fprintf(stderr, "peak: core %d cannot be used; name cores this process may run on\n",
                 core);
    std::exit(2);
  }
}

// One worker per core; all begin together.
void on_cores(const std::vector<int>& cores, const std::function<void(std::size_t)>& work) {
  std::barrier start(static_cast<std::ptrdiff_t>(cores.size()));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    threads.emplace_back([&, i] {
      pin(cores[i]);
      start.arrive_and_wait();
      work(i);
    });
  }
}

struct Rate {
  double best = 0;
  double median = 0;
};

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Operations a second of all cores together.
Rate measure(Loop loop, const std::vector<int>& cores, double seconds) {
  std::vector<Rate> rates(cores.size());
  on_cores(cores, [&](std::size_t i) {
    constexpr double kSliceSeconds = 0.005;
    constexpr long kProbeRounds = 20000;
    auto begin = std::chrono::steady_clock::now();
    loop(kProbeRounds);
    const double probe = Seconds(std::chrono::steady_clock::now() - begin).count();
    const long rounds = static_cast<long>(kProbeRounds * kSliceSeconds / probe) + 1;
    std::vector<double> slices;
    const auto end = std::chrono::steady_clock::now() + Seconds(seconds);
    while (slices.empty() || std::chrono::steady_clock::now() < end) {
      begin = std::chrono::steady_clock::now();
      const double operations = loop(rounds);
      slices.push_back(operations / Seconds(std::chrono::steady_clock::now() - begin).count());
    }
    rates[i] = {*std::max_element(slices.begin(), slices.end()), median_of(slices)};
  });
  Rate total;
  for (const Rate& rate : rates) {
    total.best += rate.best;
    total.median += rate.median;
  }
  return total;
}

// Bytes a second that all cores together read.
Rate measure_read(const Machine& machine, const std::vector<int>& cores, std::size_t bytes) {
  constexpr int kPasses = 5;
  const std::size_t share = bytes / cores.size() / 4096 * 4096;
  std::unique_ptr<float, decltype(&std::free)> data(
      static_cast<float*>(std::aligned_alloc(4096, bytes)), &std::free);
  std::vector<double> passes;
  for (int pass = -1; pass < kPasses; ++pass) {
    std::vector<double> times(cores.size());
    on_cores(cores, [&](std::size_t i) {
      float* mine = data.get() + i * share / sizeof(float);
      if (pass < 0)
        std::fill_n(mine, share / sizeof(float), 1.0F);  // its own core touches it first
      const auto begin = std::chrono::steady_clock::now();
      machine.read(mine, share);
      times[i] = Seconds(std::chrono::steady_clock::now() - begin).count();
    });
    const double slowest = *std::max_element(times.begin(), times.end());
    if (pass >= 0) passes.push_back(static_cast<double>(share * cores.size()) / slowest);
  }
  return {*std::max_element(passes.begin(), passes.end()), median_of(passes)};
}

void print_rate(const char* name, Rate rate) {
  std::printf(", \"%s\": {\"best\": %.2f, \"median\": %.2f}", name, rate.best / 1e9,
              rate.median / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: peak CORE[,CORE ...] SECONDS [MIB]\n");
    return 2;
  }
  std::vector<int> cores;
  for (char* at = argv[1]; *at != '\0'; at += *at == ',' ? 1 : 0) {
    char* end = at;
    cores.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    if (end == at) {
      std::fprintf(stderr, "peak: '%s' is not a list of core numbers\n", argv[1]);
      return 2;
    }
    at = end;
  }
  const double seconds = std::strtod(argv[2], nullptr);
  const Machine machine = find_machine();
  std::printf("{\"isa\": \"%s\", \"cores\": %zu", machine.isa.c_str(), cores.size());
  print_rate("fma_gflops", measure(machine.fma, cores, seconds));
  print_rate("fma_one_core_gflops", measure(machine.fma, {cores.front()}, seconds));
  if (machine.tile_bf16 != nullptr) {
    print_rate("tile_bf16_gflops", measure(machine.tile_bf16, cores, seconds));
  }
  if (machine.tile_int8 != nullptr) {
    print_rate("tile_int8_gops", measure(machine.tile_int8, cores, seconds));
  }
  const long mib = argc == 4 ? std::max(1L, std::strtol(argv[3], nullptr, 10)) : 1024L;
  print_rate("read_gb_s", measure_read(machine, cores, static_cast<std::size_t>(mib) << 20U));
  std::printf("}\n");
  return 0;
}
