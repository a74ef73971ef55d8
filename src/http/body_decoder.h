/// From the bytes after a header to a whole body: framing, then content coding, with bounds on both
/// sides. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/byte_budget.h"
#include "http/chunk_decoder.h"
#include "http/content_decoder.h"
#include "http/request_checks.h"

namespace layard::http {

struct BodyPlan {
  BodyFraming framing = BodyFraming::kNone;
  std::uint64_t content_length = 0;  // for kLength
  ContentCoding coding = ContentCoding::kIdentity;
  std::size_t bytes_max = 0;  // on the wire, and after decompression
};

/// Refuses a body that its header already announces to be too large (kBodySize).
std::optional<Refusal> check_announced_size(const BodyPlan& plan);

/// Thread-safety: one caller at a time.
class BodyDecoder {
 public:
  enum class State : std::uint8_t { kMore, kDone, kRefused };

  /// `share` is where the body's memory is taken from; it must outlive the decoder.
  BodyDecoder(const BodyPlan& plan, BudgetShare& share);

  /// Takes bytes off the front of `bytes`: all of them, or up to the end of the body. What is left
  /// then belongs to the next message. After kDone or kRefused it must not be called again.
  State feed(std::string_view& bytes);

  /// When kRefused.
  const Refusal& refusal() const noexcept { return refusal_; }
  /// When kDone. REQUIRES: called once.
  std::string take_body() noexcept { return std::move(body_); }
  std::uint64_t wire_bytes() const noexcept { return wire_bytes_; }

 private:
  State feed_length(std::string_view& bytes);
  State feed_chunks(std::string_view& bytes);
  bool decode(std::string_view data);
  State finish();
  State refuse(Refusal refusal);

  BodyPlan plan_;
  BudgetShare& share_;
  ChunkDecoder chunks_;
  std::unique_ptr<ContentDecoder> content_;
  std::uint64_t wire_bytes_ = 0;  // of the body, without its chunks' framing
  std::string body_;
  Refusal refusal_;
};

}  // namespace layard::http
