/// One request from its first byte to its response's last, with a limit on every wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "http/client.h"
#include "http/client_connection.h"
#include "http/client_request.h"
#include "http/client_state.h"
#include "http/dial.h"
#include "http/piece_decoder.h"
#include "http/request_checks.h"
#include "http/response_checks.h"
#include "http/task.h"

namespace layard::http {

/// Owned by who waits for the response, then by the ClientResponse.
/// Thread-safety: the loop's thread only.
class ClientExchange final : public TimedExchange,
                             public std::enable_shared_from_this<ClientExchange> {
 public:
  ClientExchange(std::shared_ptr<ClientState> state, Upstream upstream, ClientRequest request);

  /// Sends, and waits for the head. REQUIRES: called once.
  Task<ClientResult> run();
  /// The body; see ClientResponse::read.
  Task<BodyRead> read();
  /// Nobody wants the rest: closes the connection unless it was given back already.
  void abandon();

  void check_time(std::int64_t now_ns) override;
  void cancel() override;

 private:
  using HeadResult = std::variant<ReceivedHead, ClientError>;

  Task<HeadResult> head_over_connections(const RequestHeadBytes& head);
  Task<std::optional<ClientError>> connect(bool may_be_kept);
  Task<std::optional<ClientError>> dial();
  Task<HeadResult> read_head();
  Task<HeadResult> read_one_head();
  bool may_repeat(const ClientError& error) const;

  Detached write_request(std::shared_ptr<ClientExchange> self, RequestHeadBytes head);
  Task<bool> write_pieces(const RequestHeadBytes& head);
  Task<bool> write_pulled(const RequestHeadBytes& head);
  Task<bool> write_piece(BodyPiece piece, bool chunked);
  Task<bool> write(std::string_view bytes);
  Task<void> writer_ended();

  Task<StreamReader::Fill> fill(std::int64_t limit_ms, ClientFault fault);
  BodyRead fail_body(ClientFault fault, std::string_view what);
  BodyRead body_ended();

  void begin_watching();
  void stop(ClientFault fault);
  void end(bool reusable);
  ClientError error(ClientFault fault, std::string_view what) const;
  ClientError stopped_error() const;
  std::int64_t after_ms(std::int64_t wait_ms) const;

  const std::shared_ptr<ClientState> state_;
  const Upstream upstream_;
  ClientRequest request_;
  const std::string origin_;

  std::unique_ptr<Dialling> dialling_;
  std::optional<DialResult> dialled_result_;
  Signal dialled_;
  std::shared_ptr<ClientConnection> connection_;
  bool from_kept_ = false;

  bool writing_ = false;
  bool source_failed_ = false;
  bool request_written_ = false;
  Signal write_ended_;
  std::uint64_t written_before_ = 0;  // on this connection, before this request
  bool any_written_ = false;          // on a connection that was given up
  bool any_read_ = false;

  // kNever of the .cc where nothing is waited for.
  std::int64_t read_deadline_ns_;
  std::int64_t write_deadline_ns_;
  std::int64_t total_deadline_ns_;
  ClientFault read_fault_ = ClientFault::kHeadTimeout;
  std::optional<ClientFault> stopped_;  // by a limit or by the caller
  std::optional<std::stop_callback<std::function<void()>>> on_cancel_;
  bool watched_ = false;
  bool ended_ = false;  // the connection is given back or closed

  PieceDecoder decoder_;
  bool keep_alive_ = false;
  std::size_t unconsumed_ = 0;  // bytes of the reader that the caller still looks at
  std::optional<BodyRead> last_read_;
};

}  // namespace layard::http
