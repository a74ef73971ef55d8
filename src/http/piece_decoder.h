/// A response's body, piece by piece, out of the bytes on the wire. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/chunk_decoder.h"
#include "http/response_checks.h"

namespace layard::http {

/// Undoes the framing and keeps nothing: what arrived can be handed on at once.
/// Thread-safety: one caller at a time.
class PieceDecoder {
 public:
  enum class State : std::uint8_t { kMore, kData, kDone, kRefused };

  /// A body over `bytes_max` is refused with kBodySize: by its announced length, or where the piece
  /// that goes over it begins.
  PieceDecoder(ResponseBody framing, std::uint64_t content_length, std::uint64_t bytes_max);

  /// Takes bytes off the front of `bytes` up to the next piece of data (kData: in `data`, a view
  /// into `bytes`, never empty), the body's end (kDone), or the end of `bytes` (kMore).
  /// After kRefused it must not be called again; after kDone it says kDone again.
  State next(std::string_view& bytes, std::string_view& data);

  /// Whether the body is whole when the peer says, in order, that it sends nothing more.
  bool whole_at_end() const noexcept {
    return framing_ == ResponseBody::kUntilClose || framing_ == ResponseBody::kNone;
  }

  /// When kRefused.
  const Refusal& refusal() const noexcept { return refusal_; }

 private:
  State take(std::uint64_t count, std::string_view& bytes, std::string_view& data);
  State next_chunk(std::string_view& bytes, std::string_view& data);
  State refuse_size();

  ResponseBody framing_;
  std::uint64_t left_;  // for kLength
  std::uint64_t room_;  // how much more data may come
  std::uint64_t bytes_max_;
  ChunkDecoder chunks_;
  Refusal refusal_;
};

}  // namespace layard::http
