/// Undoes gzip and zstd content codings as bytes arrive, with a bound on what comes out. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/refusal.h"
#include "http/request_checks.h"

namespace layard::http {

/// One decoder for one body. Memory besides the output: about 50 KB for gzip; for zstd its window,
/// which a frame chooses, at most 8 MiB (the size RFC 8878 asks decoders to support).
/// Thread-safety: one caller at a time.
class ContentDecoder {
 public:
  /// `out_bytes_max` bounds the output of the whole body.
  /// Errors: kInternal when there is no memory for the decoder.
  static std::unique_ptr<ContentDecoder> create(ContentCoding coding, std::size_t out_bytes_max);

  virtual ~ContentDecoder() = default;

  /// Decodes all of `in` and appends to `out`. A refusal (kBodySize when the output would pass its
  /// bound, kCompressedBody otherwise) ends the body; `out` then holds at most its bound.
  virtual std::optional<Refusal> write(std::string_view in, std::string& out) = 0;

  /// After the last byte: refuses a body that was cut off. No byte at all is an empty body.
  virtual std::optional<Refusal> finish() = 0;

  /// Bytes the decoder itself holds.
  virtual std::size_t memory_bytes() const = 0;
};

}  // namespace layard::http
