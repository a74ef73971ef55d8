/// A device's reply on its way to the client: each piece leaves when it comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/chat_request.h"
#include "gateway/model_rewriter.h"
#include "gateway/sse_events.h"
#include "http/client.h"
#include "http/loop.h"
#include "http/server.h"
#include "http/task.h"

namespace layard::gateway {

struct RelayOptions {
  Api api = Api::kChatCompletions;
  bool wants_stream = false;      ///< the client asked for events
  std::string model;              ///< the name that replies have; empty: theirs
  std::int64_t keepalive_ms = 0;  ///< 0: no comments
};

enum class RelayEnd : std::uint8_t {
  kDone,
  kClientGone,
  kDeviceFailed,  ///< the reply has no end; `error` says why
};

struct RelayResult {
  RelayEnd end = RelayEnd::kDone;
  int status = 0;  ///< that the client got, or would have got
  http::ClientError error;
};

/// One request's reply, which several devices may be tried for: until replied() nothing of any
/// device's was sent. Silent streams get comments, also before there is a reply, so that nobody
/// between takes them for dead. Thread-safety: the loop's thread only. Ownership: `loop` and
/// `responder` must outlive it.
class ReplyRelay {
 public:
  /// What its owner hears of; each may be empty.
  struct Hooks {
    std::function<void()> on_keepalive = {};                 ///< a comment was sent
    std::function<void(std::int64_t now_ns)> on_bytes = {};  ///< the device sent some of a body
  };
  ReplyRelay(http::Loop& loop, http::Responder& responder, RelayOptions options, Hooks hooks);
  ~ReplyRelay();
  ReplyRelay(const ReplyRelay&) = delete;
  ReplyRelay& operator=(const ReplyRelay&) = delete;

  /// From now on silence is counted. `early_head` makes the head of a stream that must begin
  /// before there is a reply.
  void watch_silence(std::function<http::Response()> early_head);

  /// Whether a head was sent, if only that of comments.
  bool begun() const noexcept { return begun_; }
  /// Whether some of a device's reply was sent: nothing may be tried again then.
  bool replied() const noexcept { return replied_; }

  /// Sends the reply on. `head`: its status and fields as the client is to get them. One that is no
  /// stream of events and small is gathered, so that it goes out in one piece; a stream whose first
  /// event is an error becomes an error with its status. When the device fails before replied(),
  /// the client has had nothing of it. REQUIRES: not replied().
  http::Task<RelayResult> relay(http::ClientResponse& response, http::Response head);

  /// Ends with an error: a whole answer, or after begun() an event, with `fields` on the first.
  /// Never `[DONE]`.
  void fail(int status, std::string_view message, std::optional<std::string_view> code,
            const http::Fields& fields);

  // Of the reply so far. Times are of the loop's clock; nothing until then.
  std::optional<std::int64_t> first_byte_ns() const noexcept { return first_byte_ns_; }
  std::optional<std::int64_t> first_token_ns() const noexcept { return first_token_ns_; }
  std::int64_t last_byte_ns() const noexcept { return last_byte_ns_; }
  const TokenUsage& usage() const noexcept { return usage_; }
  /// The model's name as the device had it, where it was replaced.
  std::string model_reported() const { return rewriter_ ? rewriter_->first_seen() : ""; }
  bool is_events() const noexcept { return watch_.has_value(); }
  std::uint64_t events() const noexcept { return watch_ ? watch_->events() : 0; }

  static constexpr std::size_t kGatherBytesMax = 64 * 1024;

 private:
  struct Silence;

  http::Task<RelayResult> relay_events(http::ClientResponse& response, http::Response head);
  http::Task<RelayResult> relay_whole(http::ClientResponse& response, http::Response head);
  http::Task<RelayResult> pump(http::ClientResponse& response, std::string first, int status);
  http::Task<bool> send(std::string_view bytes);
  std::string rewritten(std::string_view bytes);
  http::Task<RelayResult> relay_coded(http::ClientResponse& response, http::Response head);
  http::Task<void> send_as_event(int status, std::string_view json);
  void start(http::Response head);
  void note(std::string_view bytes);
  void break_off(int status, std::string_view message, std::optional<std::string_view> code);
  void check_silence();

  http::Loop& loop_;
  http::Responder& responder_;
  const RelayOptions options_;
  const Hooks hooks_;
  std::function<http::Response()> early_head_;
  std::shared_ptr<Silence> silence_;
  std::optional<SseWatch> watch_;
  std::optional<ModelRewriter> rewriter_;
  bool begun_ = false;
  bool replied_ = false;
  bool is_blocked_ = false;  // bytes wait for the client: nothing may go before them
  bool started_early_ = false;
  std::int64_t last_sent_ns_ = 0;
  std::optional<std::int64_t> first_byte_ns_;
  std::optional<std::int64_t> first_token_ns_;
  std::int64_t last_byte_ns_ = 0;
  TokenUsage usage_;
};

/// Of a stream whose first event is an error: the error's JSON, and the status that it names, else
/// 502. Nothing when the first event is none, or not complete. Source: OpenAI's and llama.cpp's
/// `{"error": {"code": 503, ...}}`, Anthropic's `event: error`.
struct FirstError {
  int status = 502;
  std::string json;
};
std::optional<FirstError> first_error(std::string_view stream);

}  // namespace layard::gateway
