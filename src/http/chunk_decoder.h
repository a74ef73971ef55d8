/// Undoes the chunked transfer coding, strictly. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/refusal.h"

namespace layard::http {

struct ChunkLimits {
  std::size_t extension_bytes_max = 1024;  // of all chunks of a message together
  std::size_t trailer_bytes_max = 8 * 1024;
};

/// Reads one chunked body that arrives in pieces of any size. Extensions and trailers are checked
/// for form and dropped. Every line ends in CRLF; a chunk's size has at most 16 hex digits.
/// Thread-safety: one caller at a time.
class ChunkDecoder {
 public:
  enum class State : std::uint8_t { kMore, kData, kDone, kRefused };

  explicit ChunkDecoder(const ChunkLimits& limits) : limits_(limits) {}

  /// Goes on in `bytes`, taking what it read off its front, up to the next piece of data (kData: in
  /// `data`, a view into `bytes`), the end of the body (kDone), or the end of `bytes` (kMore).
  /// After kDone or kRefused it must not be called again.
  State next(std::string_view& bytes, std::string_view& data);

  /// Bytes of the current chunk that a complete size line announced and that are not yet seen.
  std::uint64_t announced_bytes() const noexcept { return place_ == Place::kData ? left_ : 0; }

  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  enum class Place : std::uint8_t {
    kSize,
    kExtensionGap,  // spaces before the `;`
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kEndLf,
  };

  State look_at(char c);
  State in_size(char c);
  State in_extension(char c);
  State in_trailer(char c);
  State expect(char c, char wanted, Place next);
  State refuse(std::string_view message);

  ChunkLimits limits_;
  Place place_ = Place::kSize;
  std::uint64_t left_ = 0;
  unsigned digits_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  Refusal refusal_;
};

}  // namespace layard::http
