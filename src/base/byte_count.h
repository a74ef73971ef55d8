/// Sizes in bytes as people write them. Every size that an option or a variable takes is read here.
#pragma once

#include <cstdint>
#include <string_view>

#include "layard/error.h"

namespace layard::base {

/// A whole number of bytes with or without a unit, in any case and with blanks around it: `500`,
/// `20M`, `20 MB`, `2GiB`. K, M, G, T, P, E (also KB, MB, ...) are powers of 1,000; Ki, Mi, ...
/// (also KiB, MiB, ...) powers of 1,024; B is one byte.
/// Errors: kInvalidRequest, saying what was found and what is accepted: no number, a negative or
/// broken one, another unit, more than 64 bits. Thread-safety: pure.
Result<std::uint64_t> parse_byte_count(std::string_view text);

}  // namespace layard::base
