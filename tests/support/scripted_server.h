/// A server on 127.0.0.1 that does to each connection what a test says, each on its own thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace layard::testing {

/// One accepted connection. Every wait ends after 10 s.
class ServedConnection {
 public:
  explicit ServedConnection(int socket) : socket_(socket) {}
  ServedConnection(const ServedConnection&) = delete;
  ServedConnection& operator=(const ServedConnection&) = delete;
  ~ServedConnection() { close(); }

  int socket() const { return socket_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Up to and with `mark`; empty when the client left before.
  std::string receive_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos) {
      if (!receive_some()) return {};
    }
    const auto size = buffer_.find(mark) + mark.size();
    const std::string taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return taken;
  }
  /// Fewer when the client left before.
  std::string receive_bytes(std::size_t count) {
    while (buffer_.size() < count && receive_some()) {
    }
    const std::string taken = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return taken;
  }
  std::string receive_head() { return receive_until("\r\n\r\n"); }
  /// Waits for the client to close or reset; what it sends until then is dropped.
  bool sees_end() {
    while (receive_some()) {
    }
    return ended_;
  }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

 private:
  bool receive_some() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) <= 0) return false;
    std::array<char, 16384> piece;
    const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
    ended_ = got <= 0;
    if (ended_) return false;
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  bool ended_ = false;
  std::string buffer_;
};

class ScriptedServer {
 public:
  /// `serve` runs once for each connection, on a thread of its own; `index` counts them from 0.
  using Serve = std::function<void(ServedConnection& connection, std::size_t index)>;

  explicit ScriptedServer(Serve serve)
      : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, plain, size) != 0 || ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, plain, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    accepter_ = std::thread([this] { accept_all(); });
  }
  /// Waits for the scripts to end.
  ~ScriptedServer() {
    stop_ = true;
    accepter_.join();
    ::close(listener_);
    for (auto& thread : threads_) thread.join();
  }

  unsigned port() const { return port_; }
  std::size_t accepted() const { return accepted_; }

 private:
  void accept_all() {
    while (!stop_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 10) <= 0) continue;
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      const std::size_t index = accepted_++;
      threads_.emplace_back([this, socket, index] {
        ServedConnection connection(socket);
        serve_(connection, index);
      });
    }
  }

  Serve serve_;
  int listener_;
  unsigned port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> accepted_ = 0;
  std::vector<std::thread> threads_;
  std::thread accepter_;
};

}  // namespace layard::testing
