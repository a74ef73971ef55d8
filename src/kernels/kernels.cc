#include "kernels/kernels.h"

#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/hardware_records.h"
#include "kernels/isa_tables.h"

namespace layard::kernels {
namespace {

struct NamedIsa {
  Isa isa;
  std::string_view name;
};
// In order of preference.
constexpr NamedIsa kNamed[] = {{Isa::kAmx, "amx"},
                               {Isa::kAvx512, "avx512"},
                               {Isa::kAvx2, "avx2"},
                               {Isa::kNeon, "neon"},
                               {Isa::kScalar, "scalar"}};

#if defined(__x86_64__)
/// Whether the processor has tiles with bfloat16 and int8, the vector instructions that serve them,
/// and a system that lends them to this process. Linux wants to be asked once before they are used;
/// threads started later inherit the answer. Source: Linux Documentation/arch/x86/xstate.rst.
bool amx_supported() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBFloat16 = 1U << 22U;
  constexpr unsigned kTile = 1U << 24U;
  constexpr unsigned kInt8 = 1U << 25U;
  if ((d & kBFloat16) == 0 || (d & kTile) == 0 || (d & kInt8) == 0) return false;
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16")) return false;
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

#if defined(__aarch64__)
NeonFeatures processor_features() {
#if defined(__linux__)
  return neon_features(getauxval(AT_HWCAP2));
#else
  return {};
#endif
}
#endif

/// The ISA, and what this processor's table has beyond it where that is a choice.
std::string_view variant_name(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512 && __builtin_cpu_supports("avx512vnni")) return "avx512+vnni";
#endif
#if defined(__aarch64__)
  if (isa == Isa::kNeon) return neon_variant(processor_features());
#endif
  return isa_name(isa);
}

}  // namespace

std::string_view isa_name(Isa isa) {
  for (const NamedIsa& entry : kNamed) {
    if (entry.isa == isa) return entry.name;
  }
  return "scalar";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (const NamedIsa& entry : kNamed) {
    if (entry.name == name) return entry.isa;
  }
  return std::nullopt;
}

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return true;
#if defined(__x86_64__)
    // __builtin_cpu_supports also asks the operating system (XGETBV) for the wide registers.
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
    case Isa::kAvx512:
      return isa_supported(Isa::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl");
    case Isa::kAmx: {
      static const bool supported = isa_supported(Isa::kAvx512) && amx_supported();
      return supported;
    }
#endif
#if defined(__aarch64__)
    case Isa::kNeon:
      return true;
#endif
    default:
      return false;
  }
}

bool isa_recorded(Isa isa) {
  for (const std::string_view name : kRecordedIsas) {
    if (name == isa_name(isa)) return true;
  }
  return isa == Isa::kScalar;
}

std::string_view code_hash(std::string_view variant) {
  for (const CodeHash& entry : kCodeHashes) {
    if (entry.variant == variant) return entry.hash;
  }
  return "";
}

std::string_view isa_code_hash(Isa isa) { return code_hash(variant_name(isa)); }

const KernelTable* find_kernels(Isa isa) {
  if (!isa_supported(isa)) return nullptr;
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx2:
      return &avx2_kernels();
    case Isa::kAvx512:
      if (!__builtin_cpu_supports("avx512vnni")) return &avx512_kernels();
      return __builtin_cpu_supports("avx512bf16") ? &avx512_bf16_kernels() : &avx512_vnni_kernels();
    case Isa::kAmx:
      return &amx_kernels();
#endif
#if defined(__aarch64__)
    case Isa::kNeon:
      return &neon_kernels(processor_features());
#endif
    default:
      return &scalar_kernels();
  }
}

std::size_t supported_kernels(const KernelTable* (&tables)[kIsas]) {
  std::size_t count = 0;
  for (const NamedIsa& entry : kNamed) {
    if (const KernelTable* table = find_kernels(entry.isa)) tables[count++] = table;
  }
  return count;
}

Result<const KernelTable*> select_kernels(std::string_view forced) {
  const KernelTable* tables[kIsas] = {};
  const std::size_t count = supported_kernels(tables);
  if (forced.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (isa_recorded(tables[i]->isa)) return tables[i];
    }
  }
  std::string here;
  for (std::size_t i = 0; i < count; ++i) {
    here += (i > 0 ? ", " : "") + std::string(tables[i]->name);
  }
  const std::optional<Isa> isa = parse_isa(forced);
  if (!isa) {
    return Error{ErrorCode::kInvalidRequest, "instruction set \"" + std::string(forced) +
                                                 "\" is unknown; this machine runs: " + here};
  }
  const KernelTable* table = find_kernels(*isa);
  if (table == nullptr) {
    return Error{ErrorCode::kBackendUnavailable,
                 "instruction set \"" + std::string(forced) +
                     "\" was asked for, but this machine runs only: " + here};
  }
  return table;
}

}  // namespace layard::kernels
