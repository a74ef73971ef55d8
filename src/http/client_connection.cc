#include "http/client_connection.h"

#include <cstddef>
#include <utility>

#include "http/write_some.h"

namespace layard::http {

namespace {

void count_nothing(std::size_t) {}

}  // namespace

// Here and in the client's other files every `co_await` stands alone in its statement: g++ 12 loses
// some that stand in the condition of a loop or an `if`.

ClientConnection::ClientConnection(std::unique_ptr<Stream> stream, std::string origin,
                                   std::function<void()> on_retired)
    : stream_(std::move(stream)),
      origin_(std::move(origin)),
      on_retired_(std::move(on_retired)),
      reader_(*stream_, count_nothing) {}

Task<bool> ClientConnection::write_all(std::string_view bytes, std::function<void()> on_progress) {
  writing_ = true;
  bool ok = !closed_;
  while (ok && !bytes.empty()) {
    const IoResult result = co_await WriteSome(*stream_, bytes);
    ok = result.status == IoStatus::kOk && !closed_;
    bytes.remove_prefix(result.bytes);
    bytes_written_ += result.bytes;
    if (ok) on_progress();
  }
  writing_ = false;
  write_ended_.set();
  co_return ok;
}

void ClientConnection::close() {
  if (std::exchange(closed_, true)) return;
  stream_->close();
}

void ClientConnection::retire() {
  close();
  if (std::exchange(retired_, true)) return;
  settle(shared_from_this());
}

Detached ClientConnection::settle(std::shared_ptr<ClientConnection> self) {
  co_await self->reader_.settle();
  while (self->writing_) {
    self->write_ended_.reset();
    co_await self->write_ended_.wait();
  }
  const auto on_retired = std::exchange(self->on_retired_, nullptr);
  on_retired();
}

}  // namespace layard::http
