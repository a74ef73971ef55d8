#include "kernels/kernels.h"

#include <string>

#include "kernels/isa_tables.h"

namespace layard::kernels {
namespace {

struct NamedIsa {
  Isa isa;
  std::string_view name;
};
// In order of preference.
constexpr NamedIsa kIsas[] = {
    {Isa::kAvx512, "avx512"}, {Isa::kAvx2, "avx2"}, {Isa::kNeon, "neon"}, {Isa::kScalar, "scalar"}};

}  // namespace

std::string_view isa_name(Isa isa) {
  for (const NamedIsa& entry : kIsas) {
    if (entry.isa == isa) return entry.name;
  }
  return "scalar";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (const NamedIsa& entry : kIsas) {
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
#endif
#if defined(__aarch64__)
    case Isa::kNeon:
      return true;
#endif
    default:
      return false;
  }
}

const KernelTable* find_kernels(Isa isa) {
  if (!isa_supported(isa)) return nullptr;
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kAvx2:
      return &avx2_kernels();
    case Isa::kAvx512:
      return &avx512_kernels();
#endif
#if defined(__aarch64__)
    case Isa::kNeon:
      return &neon_kernels();
#endif
    default:
      return &scalar_kernels();
  }
}

std::size_t supported_kernels(const KernelTable* (&tables)[4]) {
  std::size_t count = 0;
  for (const NamedIsa& entry : kIsas) {
    if (const KernelTable* table = find_kernels(entry.isa)) tables[count++] = table;
  }
  return count;
}

Result<const KernelTable*> select_kernels(std::string_view forced) {
  const KernelTable* tables[4] = {};
  const std::size_t count = supported_kernels(tables);
  if (forced.empty()) return tables[0];
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
