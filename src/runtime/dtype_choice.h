/// `dtype auto`: which number format has earned its use here.
///
/// Thread-safety: reads files only; any number of callers.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/log.h"
#include "validation/parity_record.h"

namespace layard::runtime {

/// The cpu device's number formats, the most exact first.
inline constexpr std::array<std::string_view, 4> kDtypes = {"float32", "float16", "bfloat16",
                                                            "int8"};

/// Product version and hash of the code around the kernels that decides what is computed in which
/// format: `0.1.0+<16 hex>`. A parity record of another build says nothing about this one.
std::string build_identity();

/// The format with a passing record of `key` (whose dtype is not read) and the smallest
/// row_ms_median, the more exact of equals; float32 when there is none.
/// The log hears at level info what was chosen and about outdated records; as a warning, about
/// records that are refused, and, with `parity_command` as what to do, that there was nothing to
/// choose from.
std::string choose_dtype(const std::filesystem::path& cache, validation::RecordKey key,
                         const std::string& parity_command, base::LogSink& log);

/// For a format that was asked for by name: the warning that its gate failed here, with what
/// failed, the record's file and `parity_command`. Empty for float32, without a record (nobody has
/// measured it: that is no news), and where it passed. Records that do not count are logged at
/// level info.
std::string failed_record(const std::filesystem::path& cache, const validation::RecordKey& key,
                          const std::string& parity_command, base::LogSink& log);

}  // namespace layard::runtime
