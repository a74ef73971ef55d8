/// A client on a raw socket, for what well-behaved clients never send.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace layard::testing {

/// Connects to 127.0.0.1. Every wait ends after 10 s with what there is.
class TcpClient {
 public:
  explicit TcpClient(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 ||
        ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      close();
      throw std::runtime_error("cannot connect");
    }
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  TcpClient(TcpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}
  TcpClient& operator=(TcpClient&&) = delete;
  ~TcpClient() { close(); }

  /// False when the server is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Everything until the server closes.
  std::string receive_all() {
    while (receive_some()) {
    }
    return std::exchange(buffer_, {});
  }

  std::string receive_bytes(std::size_t count) {
    while (buffer_.size() < count && receive_some()) {
    }
    return take(count);
  }

  /// Up to and with `mark`.
  std::string receive_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos && receive_some()) {
    }
    const auto at = buffer_.find(mark);
    return take(at == std::string::npos ? buffer_.size() : at + mark.size());
  }

  /// One response with a Content-Length.
  std::string receive_response() {
    std::string response = receive_until("\r\n\r\n");
    constexpr std::string_view kLength = "Content-Length: ";
    const auto at = response.find(kLength);
    if (at == std::string::npos) return response;
    const auto length = std::strtoul(response.c_str() + at + kLength.size(), nullptr, 10);
    return response + receive_bytes(length);
  }

  /// Whether the server closed or reset the connection within the time.
  bool closes_within(int wait_ms) {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, wait_ms) <= 0) return false;
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK) <= 0;
  }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  /// Closes so that the server sees a reset.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }
  void set_receive_buffer(int bytes) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  }

 private:
  bool receive_some() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) <= 0) return false;
    std::array<char, 16384> piece;
    const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
    if (got <= 0) return false;
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }
  std::string take(std::size_t count) {
    std::string taken = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return taken;
  }

  int socket_;
  std::string buffer_;
};

}  // namespace layard::testing
