/// For tests: every table this machine can run, and emulated ones with the shapes of the wide
/// instruction sets, so that their indexing and tails are tested on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/isa_tables.h"
#include "kernels/kernels.h"

namespace layard::kernels {

/// An emulated table with the sizes of avx512.cc and fused sums: bit-equal to it.
extern const KernelTable kEmulated512;
/// The same with products of bfloat16 pairs: bit-equal to avx512_bf16.cc.
extern const KernelTable kEmulatedPairs;
/// The same with the sizes of avx2.cc, which has int8 in 16-bit pairs: there bit-equal to it.
extern const KernelTable kEmulatedWords;
/// An emulated one with small blocks, so that every loop of the blocking turns at test sizes.
extern const KernelTable kEmulatedSmall;
/// An emulated one with tiles: bit-equal to amx.cc.
extern const KernelTable kEmulatedTiles;
/// The scalar one with NEON's blocks, emulated, for bfloat16 and int8: those two are bit-equal to
/// neon_bf16.cc and neon_i8mm.cc.
extern const KernelTable kEmulatedBlocks;

inline std::vector<const KernelTable*> test_tables() {
  const KernelTable* native[kIsas] = {};
  const std::size_t count = supported_kernels(native);
  std::vector<const KernelTable*> tables(native, native + count);
#if defined(__x86_64__)
  // The AVX-512 tables that processors with less use.
  if (isa_supported(Isa::kAvx512)) tables.push_back(&avx512_kernels());
  if (find_kernels(Isa::kAvx512) == &avx512_bf16_kernels()) {
    tables.push_back(&avx512_vnni_kernels());
  }
#endif
  tables.push_back(&kEmulated512);
  tables.push_back(&kEmulatedPairs);
  tables.push_back(&kEmulatedWords);
  tables.push_back(&kEmulatedSmall);
  tables.push_back(&kEmulatedTiles);
  return tables;
}

/// The same and those that differ from one of them in linear formats only.
inline std::vector<const KernelTable*> format_tables() {
  std::vector<const KernelTable*> tables = test_tables();
  tables.push_back(&kEmulatedBlocks);
#if defined(__aarch64__)
  // The NEON table that processors without BFMMLA and SMMLA use.
  if (find_kernels(Isa::kNeon) != &neon_kernels({})) tables.push_back(&neon_kernels({}));
#endif
  return tables;
}

inline std::vector<float> random_floats(std::size_t count, unsigned seed, float size = 1.0F) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-size, size);
  std::vector<float> out(count);
  for (float& value : out) value = uniform(random);
  return out;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

}  // namespace layard::kernels
