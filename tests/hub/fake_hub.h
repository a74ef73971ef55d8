/// A hub on loopback that serves files as a real one does and, when told, misbehaves.
///
/// Files are served at any path with ETag, Content-Length and Range; scripts replace the answers
/// to the next requests of a path. Every reply closes its connection.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace layard::testing {

struct HubRequest {
  std::string method;
  std::string path;                            // with query
  std::map<std::string, std::string> headers;  // names in lower case

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct HubFile {
  std::string content;
  std::string etag;  // with quotes; empty sends none
};

/// One connection, as a scripted reply sees it.
class HubPeer {
 public:
  HubPeer(int socket, const std::atomic<bool>& closing) : socket_(socket), closing_(closing) {}
  void send(std::string_view bytes);
  /// Says nothing more but keeps the connection open until the client or the hub goes away.
  void hold();

 private:
  int socket_;
  const std::atomic<bool>& closing_;
};

using HubReply = std::function<void(const HubRequest&, const HubFile&, HubPeer&)>;

/// Thread-safety: any number of callers.
class FakeHub {
 public:
  FakeHub();
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;
  ~FakeHub();

  /// `http://127.0.0.1:<port>`.
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  /// Serves `content` at `path`; its ETag is derived from the content.
  void serve(const std::string& path, std::string content);
  void serve(const std::string& path, HubFile file);
  /// The next requests for `path` get these replies, one each; then it is served again.
  void script(const std::string& path, std::vector<HubReply> replies);

  /// All requests so far, in order of arrival.
  std::vector<HubRequest> requests() const;
  std::size_t request_count() const { return requests().size(); }

 private:
  void accept_loop();
  void handle(int socket);
  HubReply next_reply(const HubRequest& request, HubFile& file);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> closing_{false};
  mutable std::mutex mutex_;
  std::map<std::string, HubFile> files_;
  std::map<std::string, std::vector<HubReply>> scripts_;
  std::vector<HubRequest> requests_;
  std::vector<std::jthread> connections_;
  std::jthread acceptor_;
};

/// The right answer: 200 or 206 with everything a hub sends, 404 for an unknown path.
void reply_normally(const HubRequest& request, const HubFile& file, HubPeer& peer);

/// `HTTP/1.1 <status> ...` with `headers` (each ending in \r\n) and `body`.
HubReply reply_with(int status, std::string headers, std::string body);
HubReply redirect_to(std::string location);
/// A right head, then only the first `bytes` of the body, then the connection ends.
HubReply cut_after(std::size_t bytes);
/// The same, then silence.
HubReply stall_after(std::size_t bytes);
/// Silence from the start.
HubReply stall_at_once();

}  // namespace layard::testing
