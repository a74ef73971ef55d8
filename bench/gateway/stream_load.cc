#include "stream_load.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>

#include "response_reader.h"
#include "sockets.h"
#include "stamped_event.h"
#include "times.h"

namespace layard::bench {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kLateMs = 5;
constexpr std::int64_t kWarmUpMsMax = 120'000;

void send_all(const Descriptor& socket, const std::string& request) {
  // Requests are far smaller than an empty socket's buffer.
  const ssize_t count = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (count != static_cast<ssize_t>(request.size())) fail("a request could not be sent whole");
}

struct Stream {
  Descriptor socket;
  ResponseReader reader;
  std::string pending;  // body bytes of an event that is not whole yet
  std::string request;
  std::int64_t next_sequence = 0;
  bool running = false;  // had its first event
};

struct Probe {
  Descriptor socket;
  ResponseReader reader;
};

struct Tally {
  std::int64_t events = 0;
  std::int64_t bytes = 0;
  std::int64_t merged = 0;
  std::int64_t held_back_bytes = 0;
  std::int64_t late = 0;
  std::int64_t lost = 0;
  std::int64_t repeated = 0;
  std::int64_t comments = 0;
  std::int64_t ended = 0;
  std::vector<double> latency_ms;
};

class Load {
 public:
  explicit Load(const StreamLoad& load)
      : load_(load), end_timer_(make_timer()), probe_timer_(make_timer()) {
    epoll_.add(end_timer_.get(), EPOLLIN, kEndTag);
    epoll_.add(probe_timer_.get(), EPOLLIN, kProbeTimerTag);
    for (const std::string& url : load.probe_urls) {
      const Address address = Address::parse(url);
      probes_.push_back({connect_to(address.host, address.port, false), {}});
      epoll_.add(probes_.back().socket.get(), EPOLLIN, kFirstProbeTag + probes_.size() - 1);
    }
    RequestForm form = load.form;
    form.streamed = false;
    probe_request_ = chat_request(form, user_text(0));
  }

  std::string run() {
    set_timer(end_timer_, now_ns() + kWarmUpMsMax * 1'000'000);
    open_more();
    while (!over_) {
      for (const epoll_event& event : epoll_.wait()) handle(event);
    }
    return report();
  }

 private:
  static constexpr std::uint64_t kEndTag = 0;
  static constexpr std::uint64_t kProbeTimerTag = 1;
  static constexpr std::uint64_t kFirstProbeTag = 2;
  static constexpr std::uint64_t kFirstStreamTag = 16;

  void handle(const epoll_event& event) {
    const std::uint64_t tag = event.data.u64;
    if (tag >= kFirstStreamTag) return read_stream(*streams_[tag - kFirstStreamTag]);
    if (tag >= kFirstProbeTag) return read_probe(probes_[tag - kFirstProbeTag]);
    if (tag == kProbeTimerTag) {
      drain(probe_timer_);
      return send_probe();
    }
    drain(end_timer_);
    if (!measuring_) {
      fail(std::to_string(running_) + " of " + std::to_string(load_.streams) +
           " streams had an event within " + std::to_string(kWarmUpMsMax / 1000) + " s");
    }
    over_ = true;
    ended_ns_ = now_ns();
    for (const int pid : load_.pids) cpu_after_.push_back(cpu_seconds_of(pid));
    own_cpu_ = cpu_seconds_of_self() - own_cpu_;
  }

  void open_more() {
    const Address address = Address::parse(load_.url);
    RequestForm form = load_.form;
    form.streamed = true;
    while (static_cast<int>(streams_.size()) < load_.streams &&
           static_cast<int>(streams_.size()) - running_ < load_.opening_max) {
      auto stream = std::make_unique<Stream>();
      const int number = static_cast<int>(streams_.size()) % std::max(load_.conversations, 1);
      stream->request = chat_request(form, user_text(number));
      stream->socket = connect_to(address.host, address.port, false);
      epoll_.add(stream->socket.get(), EPOLLIN, kFirstStreamTag + streams_.size());
      send_all(stream->socket, stream->request);
      streams_.push_back(std::move(stream));
    }
  }

  void begin_measuring() {
    measuring_ = true;
    tally_ = Tally();
    tally_.latency_ms.reserve(1U << 20);
    began_ns_ = now_ns();
    for (const int pid : load_.pids) cpu_before_.push_back(cpu_seconds_of(pid));
    own_cpu_ = cpu_seconds_of_self();
    set_timer(end_timer_, began_ns_ + static_cast<std::int64_t>(load_.seconds * 1e9));
    probe_due_ns_ = began_ns_;
    if (!probes_.empty()) set_timer(probe_timer_, probe_due_ns_);
  }

  void read_stream(Stream& stream) {
    const ssize_t count = ::recv(stream.socket.get(), piece_, sizeof(piece_), 0);
    const std::int64_t received_ns = now_ns();
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) fail("a stream was cut");
    std::string_view bytes(piece_, static_cast<std::size_t>(count));
    tally_.bytes += count;
    bool first = true;
    while (!bytes.empty()) {
      bytes.remove_prefix(stream.reader.take(bytes, stream.pending));
      if (stream.reader.has_head() && stream.reader.status() != 200) {
        fail("a stream was refused with status " + std::to_string(stream.reader.status()) + ": " +
             stream.pending);
      }
      take_events(stream, received_ns, first);
      if (stream.reader.done()) begin_again(stream);
    }
  }

  // A stream that came to its end is asked for again on its connection.
  void begin_again(Stream& stream) {
    ++tally_.ended;
    stream.reader.reset();
    stream.pending.clear();
    stream.next_sequence = 0;
    send_all(stream.socket, stream.request);
  }

  void take_events(Stream& stream, std::int64_t received_ns, bool& first) {
    std::size_t begin = 0;
    for (;;) {
      const std::size_t end = stream.pending.find("\n\n", begin);
      if (end == std::string::npos) break;
      const std::string_view event =
          std::string_view(stream.pending).substr(begin, end + 2 - begin);
      begin = end + 2;
      if (event.front() == ':') {
        ++tally_.comments;
      } else if (const auto stamp = read_stamp(event)) {
        take_event(stream, *stamp, event.size(), received_ns, first);
        first = false;
      } else if (event.starts_with("event: error") ||
                 event.find("\"error\"") != std::string_view::npos) {
        fail("a stream broke: " + std::string(event));
      }
    }
    stream.pending.erase(0, begin);
  }

  void take_event(Stream& stream, const Stamp& stamp, std::size_t bytes, std::int64_t received_ns,
                  bool first) {
    const double ms = static_cast<double>(received_ns - stamp.sent_ns) / kNsPerMs;
    ++tally_.events;
    tally_.lost += std::max<std::int64_t>(stamp.sequence - stream.next_sequence, 0);
    tally_.repeated += stamp.sequence < stream.next_sequence ? 1 : 0;
    stream.next_sequence = stamp.sequence + 1;
    tally_.late += ms > kLateMs ? 1 : 0;
    if (!first) {
      ++tally_.merged;
      tally_.held_back_bytes += static_cast<std::int64_t>(bytes);
    }
    if (measuring_) tally_.latency_ms.push_back(ms);
    if (stream.running) return;
    stream.running = true;
    ++running_;
    if (running_ < load_.streams) return open_more();
    begin_measuring();
  }

  void send_probe() {
    if (over_ || probe_under_way_) return;
    const auto which = PairedTimes::proxied(probe_index_) ? 1U : 0U;
    probe_under_way_ = true;
    probe_sent_ns_ = now_ns();
    send_all(probes_[which].socket, probe_request_);
  }

  void read_probe(Probe& probe) {
    const ssize_t count = ::recv(probe.socket.get(), piece_, sizeof(piece_), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) fail("a request's connection was cut");
    std::string body;
    probe.reader.take({piece_, static_cast<std::size_t>(count)}, body);
    if (!probe.reader.done()) return;
    const double ms = static_cast<double>(now_ns() - probe_sent_ns_) / kNsPerMs;
    if (probe.reader.status() != 200) fail("a request beside the streams was refused: " + body);
    probe.reader.reset();
    probe_times_.add(probe_index_++, ms);
    probe_under_way_ = false;
    probe_due_ns_ =
        std::max(now_ns(), probe_due_ns_ + static_cast<std::int64_t>(1e9 / load_.probes_per_s));
    set_timer(probe_timer_, probe_due_ns_);
  }

  std::string report() const {
    const double seconds = static_cast<double>(ended_ns_ - began_ns_) / 1e9;
    const auto events = static_cast<double>(std::max<std::int64_t>(tally_.events, 1));
    std::ostringstream out;
    out << "{\"streams\": " << load_.streams << ", \"seconds\": " << seconds
        << ", \"events\": " << tally_.events << ", \"events_per_s\": " << events / seconds
        << ", \"bytes\": " << tally_.bytes << ", \"latency\": " << times_json(tally_.latency_ms)
        << ", \"merged_events\": " << tally_.merged
        << ", \"held_back_bytes\": " << tally_.held_back_bytes
        << ", \"late_events\": " << tally_.late << ", \"lost_events\": " << tally_.lost
        << ", \"repeated_events\": " << tally_.repeated << ", \"comments\": " << tally_.comments
        << ", \"ended\": " << tally_.ended << ", \"generator_cpu_s\": " << own_cpu_
        << ", \"cpu\": [";
    for (std::size_t i = 0; i < load_.pids.size(); ++i) {
      const double used = cpu_after_[i] - cpu_before_[i];
      out << (i > 0 ? ", " : "") << "{\"pid\": " << load_.pids[i] << ", \"seconds\": " << used
          << ", \"us_per_event\": " << used / events * 1e6 << "}";
    }
    out << "], \"probes\": {" << probe_times_.json() << "}}";
    return out.str();
  }

  const StreamLoad& load_;
  Epoll epoll_;
  Descriptor end_timer_;
  Descriptor probe_timer_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Probe> probes_;
  std::string probe_request_;
  PairedTimes probe_times_;
  int probe_index_ = 0;
  bool probe_under_way_ = false;
  std::int64_t probe_sent_ns_ = 0;
  std::int64_t probe_due_ns_ = 0;
  int running_ = 0;
  bool measuring_ = false;
  bool over_ = false;
  std::int64_t began_ns_ = 0;
  std::int64_t ended_ns_ = 0;
  double own_cpu_ = 0;
  std::vector<double> cpu_before_;
  std::vector<double> cpu_after_;
  Tally tally_;
  char piece_[65536];
};

}  // namespace

std::string run_stream_load(const StreamLoad& load) { return Load(load).run(); }

}  // namespace layard::bench
