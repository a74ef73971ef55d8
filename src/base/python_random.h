/// Python's random.Random: the same numbers from the same seed, where workloads must be repeatable
/// by others.
///
/// Source: CPython 3.11 Modules/_randommodule.c (Mersenne Twister, init_by_array), Lib/random.py.
/// Thread-safety: one caller at a time.
#pragma once

#include <array>
#include <cstdint>

namespace layard::base {

class PythonRandom {
 public:
  /// Random(seed) for 0 <= seed < 2^64.
  explicit PythonRandom(std::uint64_t seed);

  /// random(): 53 bits in [0, 1).
  double uniform();
  /// getrandbits(bits), 1 <= bits <= 32.
  std::uint32_t bits(unsigned count);
  /// randrange(n), n >= 1.
  std::uint32_t below(std::uint32_t n);
  /// randint(low, high), both ends included; high - low < 2^32 - 1.
  std::int64_t between(std::int64_t low, std::int64_t high);

 private:
  static constexpr unsigned kWords = 624;
  std::uint32_t next();
  void refill();

  std::array<std::uint32_t, kWords> state_{};
  unsigned index_ = kWords;
};

}  // namespace layard::base
