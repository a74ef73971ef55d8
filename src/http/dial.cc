#include "http/dial.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/asio_loop.h"

namespace layard::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using TlsSocket = asio::ssl::stream<Tcp::socket>;

constexpr std::size_t kAddressesMax = 8;

// Over TLS only the peer's closing alert is an end: without it anybody on the way could cut a body
// short (the error is ssl::error::stream_truncated then).
IoResult result_of(const error_code& error, std::size_t bytes) {
  if (!error) return {IoStatus::kOk, bytes};
  return {error == asio::error::eof ? IoStatus::kEnd : IoStatus::kFailed, bytes};
}

template <class Socket>
class DialledStream final : public Stream {
 public:
  DialledStream(std::unique_ptr<Socket> socket, const asio::ip::address& peer)
      : socket_(std::move(socket)), address_(peer.to_string()), is_loopback_(peer.is_loopback()) {}

  void read_some(std::span<char> into, IoCompletion& done) override {
    socket_->async_read_some(asio::buffer(into.data(), into.size()),
                             [&done](const error_code& error, std::size_t bytes) {
                               done.completed(result_of(error, bytes));
                             });
  }

  void write_some(std::string_view bytes, IoCompletion& done) override {
    socket_->async_write_some(asio::buffer(bytes.data(), bytes.size()),
                              [&done](const error_code& error, std::size_t written) {
                                done.completed(result_of(error, written));
                              });
  }

  void shutdown_send() override {
    error_code ignored;
    socket_->lowest_layer().shutdown(Tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    error_code ignored;
    socket_->lowest_layer().close(ignored);
  }

  std::string peer_address() const override { return address_; }
  bool peer_is_loopback() const override { return is_loopback_; }

 private:
  std::unique_ptr<Socket> socket_;
  std::string address_;
  bool is_loopback_;
};

bool is_address(const std::string& host) {
  error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

// The name that the certificate must have, and that the server is told (never an address).
bool set_peer_name(SSL* ssl, const std::string& host) {
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (is_address(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  }
  return SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

// One address after another, then TLS. It lives as long as something of it is under way.
class Attempt final : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(asio::io_context& context, std::shared_ptr<asio::ssl::context> tls,
          const Upstream& upstream, std::int64_t wait_ms, std::function<void(DialResult)> done)
      : context_(context),
        tls_(std::move(tls)),
        upstream_(upstream),
        deadline_ns_(base::real_clock().now_ns() + wait_ms * 1'000'000),
        done_(std::move(done)),
        resolver_(context),
        timer_(context) {}

  void begin() {
    asio::post(context_, [self = shared_from_this()] {
      if (self->done_) self->resolve();
    });
  }

  void give_up() {
    done_ = nullptr;
    timer_.cancel();
    resolver_.cancel();
    close_socket();
  }

 private:
  void resolve() {
    error_code error;
    const auto address = asio::ip::make_address(upstream_.host, error);
    if (!error) {
      addresses_ = {Tcp::endpoint(address, static_cast<unsigned short>(upstream_.port))};
      connect();
      return;
    }
    limit(left_ns(), [this] { fail(DialFault::kTimeout, "its name was not resolved in time"); });
    resolver_.async_resolve(upstream_.host, std::to_string(upstream_.port),
                            Tcp::resolver::numeric_service,
                            [self = shared_from_this()](const error_code& failed,
                                                        const Tcp::resolver::results_type& found) {
                              if (self->done_) self->resolved(failed, found);
                            });
  }

  void resolved(const error_code& error, const Tcp::resolver::results_type& found) {
    for (const auto& entry : found) {
      if (addresses_.size() < kAddressesMax) addresses_.push_back(entry.endpoint());
    }
    if (error || addresses_.empty()) {
      fail(DialFault::kUnresolved, "the name has no address (" + error.message() + ")");
      return;
    }
    connect();
  }

  void connect() {
    const auto share_ns = left_ns() / static_cast<std::int64_t>(addresses_.size() - next_);
    socket_ = std::make_unique<Tcp::socket>(context_);
    address_timed_out_ = false;
    limit(share_ns, [this] {
      address_timed_out_ = true;
      close_socket();  // the attempt to connect ends, and the next address's begins
    });
    socket_->async_connect(addresses_[next_], [self = shared_from_this()](const error_code& error) {
      if (self->done_) self->connected(error);
    });
  }

  void connected(const error_code& error) {
    if (error || address_timed_out_) {
      if (++next_ < addresses_.size()) {
        connect();
      } else if (address_timed_out_ || error == asio::error::timed_out) {
        fail(DialFault::kTimeout, "it does not accept a connection in time");
      } else if (error == asio::error::connection_refused) {
        fail(DialFault::kRefused, "connection refused; nothing listens on that port");
      } else {
        fail(DialFault::kUnreachable, "cannot connect: " + error.message());
      }
      return;
    }
    error_code ignored;
    // Requests are written whole; waiting for more would only delay them.
    socket_->set_option(Tcp::no_delay(true), ignored);
    socket_->set_option(Tcp::socket::keep_alive(true), ignored);
    if (upstream_.tls) {
      shake_hands();
      return;
    }
    succeed(std::make_unique<DialledStream<Tcp::socket>>(std::move(socket_), peer()));
  }

  void shake_hands() {
    tls_socket_ = std::make_unique<TlsSocket>(std::move(*socket_), *tls_);
    socket_.reset();
    if (!set_peer_name(tls_socket_->native_handle(), upstream_.host)) {
      fail(DialFault::kTls, "TLS cannot ask for the host name " + upstream_.host);
      return;
    }
    limit(left_ns(), [this] { fail(DialFault::kTimeout, "TLS was not agreed in time"); });
    tls_socket_->async_handshake(TlsSocket::client,
                                 [self = shared_from_this()](const error_code& error) {
                                   if (self->done_) self->shaken(error);
                                 });
  }

  void shaken(const error_code& error) {
    if (!error) {
      succeed(std::make_unique<DialledStream<TlsSocket>>(std::move(tls_socket_), peer()));
      return;
    }
    const long verdict = SSL_get_verify_result(tls_socket_->native_handle());
    if (verdict != X509_V_OK) {
      fail(DialFault::kTls, "the certificate of " + upstream_.host +
                                " is refused: " + X509_verify_cert_error_string(verdict));
    } else {
      fail(DialFault::kTls, "no TLS with " + upstream_.host + ": " + error.message());
    }
  }

  asio::ip::address peer() const { return addresses_[next_].address(); }

  std::int64_t left_ns() const { return deadline_ns_ - base::real_clock().now_ns(); }

  template <class Call>
  void limit(std::int64_t wait_ns, Call call) {
    timer_.expires_after(
        std::chrono::nanoseconds(std::max<std::int64_t>(wait_ns, 0)));  // ends the wait before
    const auto turn = ++limits_;
    timer_.async_wait([self = shared_from_this(), turn, call](const error_code& error) {
      if (!error && self->done_ && turn == self->limits_) call();
    });
  }

  void close_socket() {
    error_code ignored;
    if (socket_) socket_->close(ignored);
    if (tls_socket_) tls_socket_->lowest_layer().close(ignored);
  }

  void succeed(std::unique_ptr<Stream> stream) {
    finish({std::move(stream), DialFault::kNone, {}});
  }
  void fail(DialFault fault, std::string message) {
    close_socket();
    finish({nullptr, fault, std::move(message)});
  }
  void finish(DialResult result) {
    const auto self = shared_from_this();
    const auto done = std::exchange(done_, nullptr);
    timer_.cancel();
    resolver_.cancel();
    done(std::move(result));
  }

  asio::io_context& context_;
  const std::shared_ptr<asio::ssl::context> tls_;
  const Upstream upstream_;
  const std::int64_t deadline_ns_;
  std::function<void(DialResult)> done_;  // null once the attempt is over
  Tcp::resolver resolver_;
  asio::steady_timer timer_;
  unsigned limits_ = 0;
  std::vector<Tcp::endpoint> addresses_;
  std::size_t next_ = 0;
  bool address_timed_out_ = false;
  std::unique_ptr<Tcp::socket> socket_;
  std::unique_ptr<TlsSocket> tls_socket_;
};

class AttemptHandle final : public Dialling {
 public:
  explicit AttemptHandle(std::shared_ptr<Attempt> attempt) : attempt_(std::move(attempt)) {}
  ~AttemptHandle() override { attempt_->give_up(); }

 private:
  std::shared_ptr<Attempt> attempt_;
};

// Servers that speak more than one protocol are told which one this is.
constexpr std::array<unsigned char, 9> kProtocols = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

Status trust(asio::ssl::context& context, const std::string& ca_file) {
  error_code error;
  if (ca_file.empty()) {
    context.set_default_verify_paths(error);
    if (error) return Error{ErrorCode::kIo, "the system's certificates: " + error.message()};
    return {};
  }
  context.load_verify_file(ca_file, error);
  if (error) {
    return Error{ErrorCode::kIo, "ca_file: " + ca_file +
                                     " holds no certificate that can be read (" + error.message() +
                                     "); give a PEM file"};
  }
  return {};
}

Result<std::shared_ptr<asio::ssl::context>> make_context(const TlsOptions& tls) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  LAYARD_TRY(trust(*context, tls.ca_file));
  error_code error;
  context->set_verify_mode(asio::ssl::verify_peer, error);
  auto* const native = context->native_handle();
  if (error || SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(native, kProtocols.data(), kProtocols.size()) != 0) {
    return Error{ErrorCode::kInternal, "TLS cannot be set up"};
  }
  return context;
}

// Of an attempt that could not begin.
class FailedHandle final : public Dialling {
 public:
  explicit FailedHandle(std::shared_ptr<bool> alive) : alive_(std::move(alive)) {}
  ~FailedHandle() override { *alive_ = false; }

 private:
  std::shared_ptr<bool> alive_;
};

// Most loops never speak TLS, and what it needs takes a good part of a second to make.
class AsioDialer final : public Dialer {
 public:
  /// `tls`: null: made with the system's authorities when it is first needed.
  AsioDialer(asio::io_context& context, std::shared_ptr<asio::ssl::context> tls)
      : context_(context), tls_(std::move(tls)) {}

  std::unique_ptr<Dialling> dial(const Upstream& upstream, std::int64_t wait_ms,
                                 std::function<void(DialResult)> done) override {
    if (upstream.tls && tls_ == nullptr) {
      auto made = make_context({});
      if (!made.ok()) {
        const std::string message = upstream.origin() + ": " + made.error().message;
        auto alive = std::make_shared<bool>(true);
        asio::post(context_, [alive, done = std::move(done), message] {
          if (*alive) done({nullptr, DialFault::kTls, message});
        });
        return std::make_unique<FailedHandle>(std::move(alive));
      }
      tls_ = *std::move(made);
    }
    auto attempt = std::make_shared<Attempt>(context_, tls_, upstream, wait_ms, std::move(done));
    attempt->begin();
    return std::make_unique<AttemptHandle>(std::move(attempt));
  }

 private:
  asio::io_context& context_;
  std::shared_ptr<asio::ssl::context> tls_;
};

}  // namespace

Result<std::unique_ptr<Dialer>> make_dialer(SocketLoop& loop, const TlsOptions& tls) {
  std::shared_ptr<asio::ssl::context> context;
  // A file that is named is looked at now, so that a wrong one is known at the start.
  if (!tls.ca_file.empty()) {
    LAYARD_ASSIGN(context, make_context(tls));
  }
  return std::unique_ptr<Dialer>(
      std::make_unique<AsioDialer>(io_context_of(loop), std::move(context)));
}

}  // namespace layard::http
