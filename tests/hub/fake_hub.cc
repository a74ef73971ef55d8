#include "hub/fake_hub.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace layard::testing {
namespace {

// Reads up to the blank line that ends a request's head; empty when the client went away.
std::string read_head(int socket) {
  std::string head;
  char piece[2048];
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < 65536) {
    const ssize_t got = ::recv(socket, piece, sizeof(piece), 0);
    if (got <= 0) return {};
    head.append(piece, static_cast<std::size_t>(got));
  }
  return head;
}

HubRequest parse_head(const std::string& head) {
  HubRequest request;
  const std::size_t line_end = head.find("\r\n");
  const std::string line = head.substr(0, line_end);
  const std::size_t space = line.find(' ');
  request.method = line.substr(0, space);
  request.path = line.substr(space + 1, line.rfind(' ') - space - 1);
  std::size_t start = line_end + 2;
  while (start < head.size()) {
    const std::size_t end = head.find("\r\n", start);
    const std::string field = head.substr(start, end - start);
    const std::size_t colon = field.find(':');
    if (colon != std::string::npos) {
      std::string name = field.substr(0, colon);
      std::ranges::transform(name, name.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      });
      request.headers[name] =
          field.substr(std::min(field.find_first_not_of(' ', colon + 1), field.size()));
    }
    start = end + 2;
  }
  return request;
}

// First byte asked for, when the file is still the one the client has a part of.
std::size_t range_start(const HubRequest& request, const HubFile& file) {
  const std::string range = request.header("range");
  const std::string condition = request.header("if-range");
  if (!range.starts_with("bytes=") || (!condition.empty() && condition != file.etag)) return 0;
  return static_cast<std::size_t>(std::strtoull(range.c_str() + 6, nullptr, 10));
}

std::string head_of(const HubFile& file, std::size_t start) {
  const std::size_t size = file.content.size();
  std::string head = start > 0 ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
  if (start > 0) {
    head += "Content-Range: bytes " + std::to_string(start) + "-" + std::to_string(size - 1) + "/" +
            std::to_string(size) + "\r\n";
  }
  if (!file.etag.empty()) head += "ETag: " + file.etag + "\r\n";
  head += "Content-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\n";
  return head + "Content-Length: " + std::to_string(size - start) + "\r\nConnection: close\r\n\r\n";
}

}  // namespace

void HubPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HubPeer::hold() {
  while (!closing_) {
    pollfd waiting{socket_, POLLIN | POLLRDHUP, 0};
    if (::poll(&waiting, 1, 20) > 0) return;  // the client closed
  }
}

FakeHub::FakeHub() {
  // A proxy of the machine the tests run on has no business here.
  ::setenv("no_proxy", "127.0.0.1,localhost", 0);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the fake hub cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_loop(); });
}

FakeHub::~FakeHub() {
  closing_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  connections_.clear();
  ::close(listener_);
}

void FakeHub::accept_loop() {
  while (!closing_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;  // head and body are sent apart; without this each reply waits 40 ms
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connections_.emplace_back([this, socket] {
      handle(socket);
      ::shutdown(socket, SHUT_RDWR);
      ::close(socket);
    });
  }
}

void FakeHub::handle(int socket) {
  const std::string head = read_head(socket);
  if (head.empty()) return;
  const HubRequest request = parse_head(head);
  HubFile file;
  const HubReply reply = next_reply(request, file);
  HubPeer peer(socket, closing_);
  reply(request, file, peer);
}

HubReply FakeHub::next_reply(const HubRequest& request, HubFile& file) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  const std::string path = request.path.substr(0, request.path.find('?'));
  const auto found = files_.find(path);
  if (found != files_.end()) file = found->second;
  auto& script = scripts_[path];
  if (!script.empty()) {
    HubReply reply = script.front();
    script.erase(script.begin());
    return reply;
  }
  if (found == files_.end()) return reply_with(404, "", "Entry not found");
  return reply_normally;
}

void FakeHub::serve(const std::string& path, std::string content) {
  const std::string etag = "\"" + std::to_string(std::hash<std::string>()(content)) + "\"";
  serve(path, HubFile{std::move(content), etag});
}

void FakeHub::serve(const std::string& path, HubFile file) {
  const std::lock_guard lock(mutex_);
  files_[path] = std::move(file);
}

void FakeHub::script(const std::string& path, std::vector<HubReply> replies) {
  const std::lock_guard lock(mutex_);
  scripts_[path] = std::move(replies);
}

std::vector<HubRequest> FakeHub::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void reply_normally(const HubRequest& request, const HubFile& file, HubPeer& peer) {
  const std::size_t start = range_start(request, file);
  if (start > 0 && start >= file.content.size()) {
    peer.send(
        "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  peer.send(head_of(file, start));
  peer.send(std::string_view(file.content).substr(start));
}

HubReply reply_with(int status, std::string headers, std::string body) {
  return [=](const HubRequest&, const HubFile&, HubPeer& peer) {
    peer.send("HTTP/1.1 " + std::to_string(status) + " Scripted\r\n" + headers +
              "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
              body);
  };
}

HubReply redirect_to(std::string location) {
  return reply_with(302, "Location: " + location + "\r\n", "Found. Redirecting to " + location);
}

HubReply cut_after(std::size_t bytes) {
  return [=](const HubRequest& request, const HubFile& file, HubPeer& peer) {
    const std::size_t start = range_start(request, file);
    peer.send(head_of(file, start));
    peer.send(std::string_view(file.content).substr(start, bytes));
  };
}

HubReply stall_after(std::size_t bytes) {
  return [=](const HubRequest& request, const HubFile& file, HubPeer& peer) {
    cut_after(bytes)(request, file, peer);
    peer.hold();
  };
}

HubReply stall_at_once() {
  return [](const HubRequest&, const HubFile&, HubPeer& peer) { peer.hold(); };
}

}  // namespace layard::testing
