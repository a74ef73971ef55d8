/// English-looking text for benchmarks, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace layard::bench {

/// Sentences of common words (by Zipf's law, with endings, names, numbers and some punctuation) of
/// exactly `bytes` ASCII bytes.
std::string english_text(std::size_t bytes, std::uint64_t seed);

}  // namespace layard::bench
