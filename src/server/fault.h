/// What a refused or failed request is answered with: `{"detail": text}` and a status.
///
/// Source: laya 0.4.15 serve and laya-apple 1.7.0 serve (form and texts). Departs: 429 and 503
/// carry `retry-after-ms` and `Retry-After`; a checkpoint that is not here names `layard download`.
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "http/message.h"
#include "layard/error.h"

namespace layard::server {

/// A status and the text of `detail`. The text holds names of fields and questions, never a
/// caller's other texts, nor a path of this machine.
struct Fault {
  int status = 400;
  std::string detail;

  friend bool operator==(const Fault&, const Fault&) = default;
};

template <class T>
using OrFault = std::variant<T, Fault>;

/// The checkpoint a failed request was for.
struct FailedModel {
  std::string name;              // empty: not known
  bool is_downloadable = false;  // `layard download NAME` would fetch it
};

/// The answer to a failed decision, by error_table(): what the client can mend keeps its text, what
/// is wrong with the server's checkpoints is 503 without details, everything else 500. Texts are
/// cut after 2,000 bytes.
Fault fault_of(const Error& error, const FailedModel& model);

/// Compact JSON as it is; content type and the headers every JSON answer has.
http::Response json_response(int status, std::string json);

/// `{"detail": text}`. With 429 and 503 both retry headers.
http::Response fault_response(const Fault& fault, std::int64_t retry_after_ms);

/// Both retry headers; the wait is at least a millisecond.
void add_retry_after(http::Response& response, std::int64_t retry_after_ms);

/// `text` shortened to at most `bytes_max` bytes, not within a character, with `...` when cut.
std::string shortened(std::string_view text, std::size_t bytes_max);

}  // namespace layard::server
