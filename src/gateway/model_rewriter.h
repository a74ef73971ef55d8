/// Gives a reply the model's name that its client asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/model_scanner.h"
#include "gateway/sse_lines.h"

namespace layard::gateway {

enum class ReplyForm : std::uint8_t {
  kJson,  ///< one JSON text
  kSse,   ///< server-sent events whose data is JSON
};

/// Passes a reply's bytes on unchanged but for string values of `model` at the top of a JSON text,
/// or one level below in `message` (first event of Anthropic's streams) or `response` (events of
/// OpenAI's Responses). Such a value is replaced whole, at its opening quote.
///
/// Nothing is held back: every byte that is not replaced goes out in the call that brought it. The
/// output does not depend on how the input is cut. What is no JSON passes as it is. In events the
/// text begins anew with each event, and with each line of data after a complete text.
/// Bounds: constant memory. Thread-safety: one caller at a time.
class ModelRewriter {
 public:
  /// `model`: the name as the client wrote it, not yet quoted.
  ModelRewriter(ReplyForm form, std::string_view model);

  /// Appends to `out` what becomes of `bytes`.
  void feed(std::string_view bytes, std::string& out);

  /// The first value that was replaced, as it stood between its quotes; at most kSeenBytesMax.
  const std::string& first_seen() const noexcept { return first_seen_; }
  static constexpr std::size_t kSeenBytesMax = 256;
  /// Values replaced so far.
  std::uint64_t replaced() const noexcept { return replaced_; }

 private:
  void feed_json(std::string_view bytes, std::string& out);
  void end_line(bool event_complete);

  ReplyForm form_;
  std::string quoted_model_;
  SseLines lines_;
  ModelScanner scanner_{ModelPlaces::kReply};
  std::uint64_t replaced_ = 0;
  std::string first_seen_;
};

}  // namespace layard::gateway
