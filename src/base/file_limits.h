/// Sizes of files that more than one room reads: one number each, so that they cannot differ.
#pragma once

#include <cstddef>

namespace layard::base {

/// Bytes a tokenizer.json may have, wherever it is read or fetched. The largest known has 34 MB.
inline constexpr std::size_t kTokenizerFileBytesMax = std::size_t{128} << 20U;

}  // namespace layard::base
