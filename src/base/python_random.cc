#include "base/python_random.h"

#include <algorithm>
#include <bit>

#include "base/checks.h"

namespace layard::base {

PythonRandom::PythonRandom(std::uint64_t seed) {
  // init_genrand(19650218), then init_by_array over the seed's 32-bit words.
  state_[0] = 19650218U;
  for (unsigned i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30U)) + i;
  }
  const std::uint32_t words[2] = {static_cast<std::uint32_t>(seed),
                                  static_cast<std::uint32_t>(seed >> 32U)};
  const unsigned length = words[1] != 0 ? 2 : 1;
  unsigned i = 1;
  unsigned j = 0;
  const auto wrap = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (unsigned k = std::max(kWords, length); k > 0; --k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30U)) * 1664525U)) + words[j] + j;
    wrap();
    j = (j + 1) % length;
  }
  for (unsigned k = kWords - 1; k > 0; --k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30U)) * 1566083941U)) - i;
    wrap();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::refill() {
  constexpr unsigned kOffset = 397;
  for (unsigned i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7FFFFFFFU);
    state_[i] = state_[(i + kOffset) % kWords] ^ (y >> 1U) ^ ((y & 1U) != 0 ? 0x9908B0DFU : 0U);
  }
  index_ = 0;
}

std::uint32_t PythonRandom::next() {
  if (index_ == kWords) refill();
  std::uint32_t y = state_[index_++];
  y ^= y >> 11U;
  y ^= (y << 7U) & 0x9D2C5680U;
  y ^= (y << 15U) & 0xEFC60000U;
  return y ^ (y >> 18U);
}

double PythonRandom::uniform() {
  const std::uint32_t high = next() >> 5U;
  const std::uint32_t low = next() >> 6U;
  return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

std::uint32_t PythonRandom::bits(unsigned count) {
  LAYARD_CHECK(count >= 1 && count <= 32);
  return next() >> (32U - count);
}

std::uint32_t PythonRandom::below(std::uint32_t n) {
  LAYARD_CHECK(n >= 1);
  const auto width = static_cast<unsigned>(std::bit_width(n));
  std::uint32_t value = bits(width);
  while (value >= n) value = bits(width);  // at least every other draw fits
  return value;
}

std::int64_t PythonRandom::between(std::int64_t low, std::int64_t high) {
  LAYARD_CHECK(low <= high && high - low < 0xFFFFFFFF);
  return low + below(static_cast<std::uint32_t>(high - low + 1));
}

}  // namespace layard::base
