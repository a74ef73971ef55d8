/// One connection: requests in, responses out, one after another, with a limit on every wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/body_decoder.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/request_checks.h"
#include "http/response_head.h"
#include "http/server_state.h"
#include "http/stream_reader.h"
#include "http/task.h"

namespace layard::http {

/// Thread-safety: its loop's thread only.
class Connection {
 public:
  Connection(ServerState& state, Loop& loop, std::unique_ptr<Stream> stream);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Serves until the connection ends, then calls `ended`, which may destroy it.
  void serve(std::function<void()> ended);
  /// Answers 503 whatever the client wants, then ends in the same way.
  void refuse(std::function<void()> ended);

  // Each of these may end the connection, and so destroy it, before it returns.
  /// Acts on a limit that has passed.
  void check_time(std::int64_t now_ns);
  /// Ends the connection as soon as no request is under way.
  void drain();
  /// Ends it now.
  void force();

 private:
  struct Arrived {
    Request request;
    BodyFraming framing = BodyFraming::kNone;
    std::uint64_t content_length = 0;
    bool expects_continue = false;
    bool keep_alive = false;
    bool is_head = false;  // the method is HEAD
  };

  Task<void> serve_all();
  Task<void> refuse_all();
  Task<bool> serve_one();

  // Each returns nothing when the connection must end; the refusal was sent then.
  Task<std::optional<Arrived>> read_request_head();
  Task<bool> wait_for_first_byte();
  Task<bool> read_body(Arrived& arrived, const BodyPlan& plan);
  Task<bool> send_continue(const Arrived& arrived);

  Task<bool> exchange_with_handler(Arrived arrived);
  Task<bool> answer_unread(const Arrived& arrived, Response response);
  Task<bool> discard_body(std::uint64_t bytes);
  Task<bool> stream_response(const Arrived& arrived, Exchange::Batch batch);

  // The views must live until the task is done.
  Task<void> refuse_and_close(RefusalReason reason, std::string_view message,
                              std::string_view path);
  Task<bool> write_response(const Response& response, bool keep_alive, const Arrived& arrived);
  Task<bool> write_all(std::string_view bytes);
  Task<void> linger();

  Admission call_admit(const Request& request);
  void call_handle(Request request);
  Response refusal_response(const Refusal& refusal, std::string_view path);
  std::string head_bytes(const Response& response, const ResponseHeadOptions& options);
  bool keeps_alive(const Arrived& arrived, const Response& response) const;
  void client_left();
  void end_exchange(bool cancel);
  void set_limit(std::int64_t limit_ms);
  void clear_limit();

  ServerState& state_;
  Loop& loop_;
  const std::unique_ptr<Stream> stream_;
  StreamReader reader_;
  std::shared_ptr<Exchange> exchange_;  // while a handler has the request
  std::int64_t deadline_ns_;
  bool first_request_ = true;
  bool idle_ = false;         // between requests
  bool must_linger_ = false;  // the client may still be sending
  bool closed_ = false;
};

}  // namespace layard::http
