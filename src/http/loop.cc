#include "http/loop.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "http/asio_loop.h"

namespace layard::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr auto kAcceptPause = std::chrono::milliseconds(50);

IoResult result_of(const error_code& error, std::size_t bytes) {
  if (!error) return {IoStatus::kOk, bytes};
  return {error == asio::error::eof ? IoStatus::kEnd : IoStatus::kFailed, bytes};
}

class TcpStream final : public Stream {
 public:
  explicit TcpStream(Tcp::socket socket) : socket_(std::move(socket)) {
    error_code ignored;
    // Responses are written whole; waiting for more would only delay them.
    socket_.set_option(Tcp::no_delay(true), ignored);
    const auto peer = socket_.remote_endpoint(ignored).address();
    is_loopback_ = peer.is_loopback() ||
                   (peer.is_v6() && peer.to_v6().is_v4_mapped() &&
                    asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6()).is_loopback());
    address_ = peer.to_string();
  }

  void read_some(std::span<char> into, IoCompletion& done) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()),
                            [&done](const error_code& error, std::size_t bytes) {
                              done.completed(result_of(error, bytes));
                            });
  }

  void write_some(std::string_view bytes, IoCompletion& done) override {
    socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                             [&done](const error_code& error, std::size_t written) {
                               done.completed(result_of(error, written));
                             });
  }

  void shutdown_send() override {
    error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

  std::string peer_address() const override { return address_; }
  bool peer_is_loopback() const override { return is_loopback_; }

 private:
  Tcp::socket socket_;
  std::string address_;
  bool is_loopback_ = false;
};

class AsioLoop final : public SocketLoop {
 public:
  // One thread runs the context, others only post to it: Asio can leave out most of its locks.
  AsioLoop() : context_(1), work_(asio::make_work_guard(context_)) {}

  void post(std::function<void()> call) override { asio::post(context_, std::move(call)); }

  void call_after(std::int64_t wait_ms, std::function<void()> call) override {
    auto timer = std::make_shared<asio::steady_timer>(context_, std::chrono::milliseconds(wait_ms));
    timer->async_wait([timer, call = std::move(call)](const error_code& error) {
      if (!error) call();
    });
  }

  std::int64_t now_ns() const override { return base::real_clock().now_ns(); }

  void run() override { context_.run(); }
  void finish() override { context_.stop(); }

  asio::io_context& context() { return context_; }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
};

class TcpListener final : public Listener {
 public:
  explicit TcpListener(AcceptOptions options)
      : options_(std::move(options)),
        acceptor_(io_context_of(*options_.loops[0])),
        pause_(io_context_of(*options_.loops[0])) {}

  ~TcpListener() override { *alive_ = false; }

  Status open(const asio::ip::address& address) {
    const Tcp::endpoint endpoint(address, static_cast<unsigned short>(options_.port));
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) {
      return Error{ErrorCode::kIo, "cannot listen on " + options_.host + ":" +
                                       std::to_string(options_.port) + ": " + error.message() +
                                       "; choose another host or port"};
    }
    accept();
    return {};
  }

  unsigned port() const override { return port_; }

 private:
  static constexpr int kBacklog = 1024;

  void accept() {
    const std::size_t index = next_;
    acceptor_.async_accept(
        io_context_of(*options_.loops[index]),
        [this, alive = alive_, index](const error_code& error, Tcp::socket socket) {
          if (!*alive) return;
          accepted(index, error, std::move(socket));
        });
  }

  void accepted(std::size_t index, const error_code& error, Tcp::socket socket) {
    if (!error) {
      next_ = (next_ + 1) % options_.loops.size();
      accept();  // first: whatever happens to this connection, others can come
      options_.on_accept(index, std::make_unique<TcpStream>(std::move(socket)));
      return;
    }
    options_.on_error();
    // Without descriptors accepting fails at once, again and again.
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this, alive = alive_](const error_code&) {
      if (*alive) accept();
    });
  }

  AcceptOptions options_;
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::size_t next_ = 0;
  unsigned port_ = 0;
};

}  // namespace

asio::io_context& io_context_of(SocketLoop& loop) { return static_cast<AsioLoop&>(loop).context(); }

std::unique_ptr<SocketLoop> SocketLoop::create() { return std::make_unique<AsioLoop>(); }

Result<std::unique_ptr<Listener>> listen(AcceptOptions options) {
  error_code error;
  const auto address =
      asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, error);
  if (error) {
    return Error{ErrorCode::kInvalidRequest,
                 "host: \"" + options.host +
                     "\" is not an address; give one, such as 127.0.0.1, ::1 or 0.0.0.0"};
  }
  auto listener = std::make_unique<TcpListener>(std::move(options));
  LAYARD_TRY(listener->open(address));
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace layard::http
