// A backend that costs next to nothing: one thread, epoll, HTTP/1.1 with keep-alive.
//
//   POST /v1/chat/completions   a reply of a fixed size, or with `"stream": true` N stamped events
//                               at a fixed rate, usage and [DONE]
//   GET /health, /v1/models     200
//
// The first line of stdout is {"listening": "http://127.0.0.1:PORT"}; SIGTERM ends it, and the last
// line says what it did and the processor time it took.
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "sockets.h"
#include "stamped_event.h"

namespace layard::bench {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kRequestBytesMax = 16U << 20;
constexpr std::size_t kPendingBytesMax = 4U << 20;  // of one client that does not read

struct Options {
  int port = 0;
  std::int64_t events = 100;
  double events_per_s = 10;
  std::size_t event_bytes = 256;
  std::size_t reply_bytes = 1024;
  std::int64_t first_byte_ms = 0;
  std::string model = "mock-model";
};

struct Counts {
  std::int64_t connections = 0;
  std::int64_t requests = 0;
  std::int64_t streams = 0;
  std::int64_t events = 0;
  std::int64_t ended = 0;      // streams that came to their end
  std::int64_t cancelled = 0;  // streams whose client left before
  std::int64_t refused = 0;    // requests that were not understood
};

enum class Work : std::uint8_t { kNone, kReply, kStream };

struct Connection {
  Descriptor socket;
  std::string in;
  std::string out;
  bool waits_to_write = false;
  Work work = Work::kNone;
  std::int64_t next_event = 0;
  std::int64_t due_ns = 0;
  std::uint64_t generation = 0;  // of its work: an alarm of former work does nothing
};

// When a connection has something to send.
struct Alarm {
  std::int64_t at_ns = 0;
  std::size_t slot = 0;
  std::uint64_t generation = 0;
  bool operator>(const Alarm& other) const { return at_ns > other.at_ns; }
};

// One request at the front of `text`: its sizes, and what it asks for.
struct Request {
  std::size_t bytes = 0;  // 0: not whole yet
  bool refused = false;
  std::string_view line;
  std::string_view body;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

Request read_request(std::string_view text) {
  Request request;
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) {
    request.refused = text.size() > 65536;
    return request;
  }
  const std::string fields = lower(text.substr(0, head + 2));
  request.line = text.substr(0, text.find("\r\n"));
  std::size_t length = 0;
  constexpr std::string_view kLength = "\r\ncontent-length:";
  if (const std::size_t at = fields.find(kLength); at != std::string::npos) {
    length = std::strtoul(fields.c_str() + at + kLength.size(), nullptr, 10);
  }
  request.refused =
      length > kRequestBytesMax || fields.find("\r\ntransfer-encoding:") != std::string::npos;
  if (request.refused || text.size() < head + 4 + length) return request;
  request.body = text.substr(head + 4, length);
  request.bytes = head + 4 + length;
  return request;
}

// Whether the body has `"stream": true`; texts that talk about it are not what a benchmark sends.
bool asks_for_stream(std::string_view body) {
  constexpr std::string_view kName = "\"stream\"";
  std::size_t at = body.find(kName);
  if (at == std::string_view::npos) return false;
  at = body.find_first_not_of(" \t\r\n:", at + kName.size());
  return at != std::string_view::npos && body.substr(at).starts_with("true");
}

std::string reply_of(std::string_view status, const std::string& body) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string completion(const Options& options) {
  const std::string head =
      "{\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion\",\"created\":1,"
      "\"model\":\"" +
      options.model +
      "\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
      "\"content\":\"";
  const std::string tail =
      "\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,"
      "\"completion_tokens\":9,\"total_tokens\":18}}";
  const std::size_t least = head.size() + tail.size();
  const std::size_t padding = options.reply_bytes > least ? options.reply_bytes - least : 1;
  return head + std::string(padding, 'x') + tail;
}

class Backend {
 public:
  explicit Backend(const Options& options)
      : options_(options),
        writer_(options.model, options.event_bytes),
        completion_(reply_of("200 OK", completion(options))),
        period_ns_(static_cast<std::int64_t>(1e9 / options.events_per_s)),
        stop_(make_stop_signal()),
        listener_(listen_on(options.port)),
        timer_(make_timer()) {
    epoll_.add(stop_.get(), EPOLLIN, kStopTag);
    epoll_.add(listener_.get(), EPOLLIN, kListenerTag);
    epoll_.add(timer_.get(), EPOLLIN, kTimerTag);
  }

  void run() {
    std::cout << "{\"listening\": \"http://127.0.0.1:" << port_of(listener_) << "\"}\n"
              << std::flush;
    for (bool stopped = false; !stopped;) {
      for (const epoll_event& event : epoll_.wait()) {
        if (event.data.u64 == kStopTag) stopped = true;
        if (event.data.u64 == kListenerTag) accept_all();
        if (event.data.u64 == kTimerTag) ring();
        if (event.data.u64 >= kFirstSlotTag) serve(event.data.u64 - kFirstSlotTag, event.events);
      }
      free_slots_.insert(free_slots_.end(), closed_slots_.begin(), closed_slots_.end());
      closed_slots_.clear();
    }
    print_counts();
  }

 private:
  static constexpr std::uint64_t kStopTag = 0;
  static constexpr std::uint64_t kListenerTag = 1;
  static constexpr std::uint64_t kTimerTag = 2;
  static constexpr std::uint64_t kFirstSlotTag = 3;

  void accept_all() {
    while (Descriptor socket = accept_on(listener_)) {
      if (free_slots_.empty()) {
        free_slots_.push_back(connections_.size());
        connections_.push_back(std::make_unique<Connection>());
      }
      const std::size_t slot = free_slots_.back();
      free_slots_.pop_back();
      ++counts_.connections;
      epoll_.add(socket.get(), EPOLLIN | EPOLLRDHUP, slot + kFirstSlotTag);
      connections_[slot]->socket = std::move(socket);
    }
  }

  void serve(std::size_t slot, std::uint32_t events) {
    Connection& connection = *connections_[slot];
    if (!connection.socket) return;  // closed by an earlier event of this round
    if ((events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) return close(slot);
    if ((events & EPOLLOUT) != 0 && !flush(slot)) return;
    if ((events & EPOLLIN) == 0) return;
    char piece[65536];
    const ssize_t count = ::recv(connection.socket.get(), piece, sizeof(piece), 0);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return close(slot);
    if (count > 0) connection.in.append(piece, static_cast<std::size_t>(count));
    take_requests(slot);
  }

  // A connection's next request is taken when the one before is answered.
  void take_requests(std::size_t slot) {
    Connection& connection = *connections_[slot];
    while (connection.socket && connection.work == Work::kNone && !connection.in.empty()) {
      const Request request = read_request(connection.in);
      if (request.refused) {
        ++counts_.refused;
        connection.out += reply_of("400 Bad Request", "{\"error\":{\"message\":\"refused\"}}");
        if (flush(slot)) close(slot);
        return;
      }
      if (request.bytes == 0) return;
      begin(slot, request);
      connection.in.erase(0, request.bytes);
    }
  }

  void begin(std::size_t slot, const Request& request) {
    Connection& connection = *connections_[slot];
    ++counts_.requests;
    if (!request.line.starts_with("POST /v1/chat/completions")) {
      const bool known =
          request.line.starts_with("GET /health") || request.line.starts_with("GET /v1/models");
      const std::string listed = "{\"object\":\"list\",\"data\":[{\"id\":\"" + options_.model +
                                 "\",\"object\":\"model\"}]}";
      connection.out += reply_of(known ? "200 OK" : "404 Not Found", listed);
      flush(slot);
      return;
    }
    const bool streamed = asks_for_stream(request.body);
    connection.work = streamed ? Work::kStream : Work::kReply;
    connection.next_event = 0;
    ++connection.generation;
    connection.due_ns = now_ns() + options_.first_byte_ms * kNsPerMs;
    if (streamed) {
      ++counts_.streams;
      connection.out +=
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
          "Transfer-Encoding: chunked\r\n\r\n";
      if (options_.first_byte_ms == 0 && !flush(slot)) return;
      // Streams that begin together would send together ever after: each gets a phase of its own.
      phase_ns_ =
          (phase_ns_ + static_cast<std::int64_t>(.618034 * static_cast<double>(period_ns_))) %
          period_ns_;
      connection.due_ns += phase_ns_;
    } else if (options_.first_byte_ms == 0) {
      return finish(slot, completion_);
    }
    alarms_.push({connection.due_ns, slot, connection.generation});
    arm();
  }

  void finish(std::size_t slot, std::string_view last) {
    connections_[slot]->work = Work::kNone;
    connections_[slot]->out += last;
    flush(slot);
  }

  void ring() {
    drain(timer_);
    while (!alarms_.empty() && alarms_.top().at_ns <= now_ns()) {
      const Alarm alarm = alarms_.top();
      alarms_.pop();
      Connection& connection = *connections_[alarm.slot];
      if (!connection.socket || connection.generation != alarm.generation) continue;
      if (connection.work == Work::kReply) finish(alarm.slot, completion_);
      if (connection.work == Work::kStream) send_event(alarm.slot);
      if (connection.socket && connection.work == Work::kNone) take_requests(alarm.slot);
    }
    arm();
  }

  void send_event(std::size_t slot) {
    Connection& connection = *connections_[slot];
    if (connection.next_event >= options_.events) {
      ++counts_.ended;
      return finish(slot, writer_.last_chunks(options_.events));
    }
    connection.out += writer_.chunk({connection.next_event++, now_ns()});
    ++counts_.events;
    if (!flush(slot)) return;
    connection.due_ns += period_ns_;
    alarms_.push({connection.due_ns, slot, connection.generation});
  }

  void arm() {
    if (!alarms_.empty()) set_timer(timer_, alarms_.top().at_ns);
  }

  // Writes what can be written; false when the connection is gone.
  bool flush(std::size_t slot) {
    Connection& connection = *connections_[slot];
    std::size_t sent = 0;
    while (sent < connection.out.size()) {
      const ssize_t count = ::send(connection.socket.get(), connection.out.data() + sent,
                                   connection.out.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EAGAIN) break;
      if (count <= 0) {
        close(slot);
        return false;
      }
      sent += static_cast<std::size_t>(count);
    }
    connection.out.erase(0, sent);
    if (connection.out.size() > kPendingBytesMax) {
      close(slot);
      return false;
    }
    if (connection.waits_to_write != !connection.out.empty()) {
      connection.waits_to_write = !connection.out.empty();
      const std::uint32_t wanted = connection.waits_to_write ? std::uint32_t{EPOLLOUT} : 0;
      epoll_.change(connection.socket.get(), EPOLLIN | EPOLLRDHUP | wanted, slot + kFirstSlotTag);
    }
    return true;
  }

  // The slot is used again in the next round only: this one may still have events for it.
  void close(std::size_t slot) {
    Connection& connection = *connections_[slot];
    if (!connection.socket) return;
    if (connection.work == Work::kStream) ++counts_.cancelled;
    const std::uint64_t generation = connection.generation + 1;
    connection = Connection();
    connection.generation = generation;
    closed_slots_.push_back(slot);
  }

  void print_counts() const {
    std::cout << "{\"cpu_s\": " << cpu_seconds_of_self()
              << ", \"connections\": " << counts_.connections
              << ", \"requests\": " << counts_.requests << ", \"streams\": " << counts_.streams
              << ", \"events\": " << counts_.events << ", \"ended\": " << counts_.ended
              << ", \"cancelled\": " << counts_.cancelled << ", \"refused\": " << counts_.refused
              << "}\n";
  }

  Options options_;
  EventWriter writer_;
  std::string completion_;
  std::int64_t period_ns_;
  std::int64_t phase_ns_ = 0;
  Descriptor stop_;
  Descriptor listener_;
  Descriptor timer_;
  Epoll epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::size_t> free_slots_;
  std::vector<std::size_t> closed_slots_;
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms_;
  Counts counts_;
};

}  // namespace
}  // namespace layard::bench

int main(int argc, char** argv) {
  layard::bench::Options options;
  CLI::App app("A backend for the gateway's benchmark: replies and stamped event streams.");
  app.option_defaults()->always_capture_default();
  app.add_option("--port", options.port, "Port on 127.0.0.1; 0 takes a free one")
      ->check(CLI::Range(0, 65535));
  app.add_option("--events", options.events, "Events of a stream")->check(CLI::PositiveNumber);
  app.add_option("--events-per-s", options.events_per_s, "Events a second of one stream")
      ->check(CLI::Range(0.01, 1e6));
  app.add_option("--event-bytes", options.event_bytes, "Bytes of an event")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--reply-bytes", options.reply_bytes, "Bytes of a reply's body")
      ->check(CLI::Range(0, 1 << 24));
  app.add_option("--first-byte-ms", options.first_byte_ms, "Wait before a reply's first byte")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--model", options.model, "The model's name in replies");
  CLI11_PARSE(app, argc, argv);
  layard::bench::raise_descriptor_limit();
  layard::bench::Backend(options).run();
  return 0;
}
