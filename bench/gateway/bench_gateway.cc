// The load generator of the gateway's benchmark: one thread, one process, against a backend
// directly and through the gateway in turns. bench/gateway/run.py drives it.
//
//   latency     one request after another of one conversation: what the gateway adds
//   first_turn  a new conversation each time: what it adds with the decision
//   streams     many event streams at once: how long events are under way, what they cost
//   rss         memory of a process
//   texts       the first messages that `first_turn` sends, one JSON object a line
//
// Every mode prints one JSON object.
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "request_text.h"
#include "response_reader.h"
#include "sockets.h"
#include "stream_load.h"
#include "times.h"

namespace layard::bench {
namespace {

constexpr double kNsPerMs = 1e6;

struct LatencyOptions {
  std::string direct;
  std::string proxied;
  int count = 2000;
  int warm_up = 100;
  int first_text = 0;
  RequestForm form;
};

// One keep-alive connection.
class Client {
 public:
  explicit Client(const std::string& url) : url_(url) {
    const Address address = Address::parse(url);
    socket_ = connect_to(address.host, address.port, true);
  }

  /// Sends a request and reads its reply; milliseconds from the first to the last byte.
  double ask(const std::string& request) {
    reader_.reset();
    body_.clear();
    const std::int64_t began = now_ns();
    if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      fail(url_ + " closed the connection");
    }
    char piece[65536];
    while (!reader_.done()) {
      const ssize_t count = ::recv(socket_.get(), piece, sizeof(piece), 0);
      if (count <= 0) fail(url_ + " closed the connection");
      reader_.take({piece, static_cast<std::size_t>(count)}, body_);
    }
    const double ms = static_cast<double>(now_ns() - began) / kNsPerMs;
    if (reader_.status() != 200) {
      fail(url_ + ": status " + std::to_string(reader_.status()) + ": " + body_.substr(0, 400));
    }
    return ms;
  }

  std::string field(std::string_view name) const { return std::string(reader_.field(name)); }

 private:
  std::string url_;
  Descriptor socket_;
  ResponseReader reader_;
  std::string body_;
};

// `sticky`: one conversation, so that only the first request of all is decided about.
std::string latency(const LatencyOptions& options, bool sticky) {
  Client direct(options.direct);
  Client proxied(options.proxied);
  PairedTimes times;
  std::vector<double> decision_ms;
  std::map<std::string, int> decisions;
  const std::string same = chat_request(options.form, user_text(options.first_text));
  const int warm_up = (options.warm_up + 3) / 4 * 4;  // whole rounds
  for (int i = 0; i < options.count + warm_up; ++i) {
    const bool through = PairedTimes::proxied(i);
    Client& client = through ? proxied : direct;
    const double ms =
        client.ask(sticky ? same : chat_request(options.form, user_text(options.first_text + i)));
    if (i < warm_up) continue;
    times.add(i, ms);
    if (!through) continue;
    ++decisions[client.field("x-layard-decision")];
    const std::string decided = client.field("x-layard-decision-ms");
    if (!decided.empty()) decision_ms.push_back(std::atof(decided.c_str()));
  }
  std::ostringstream out;
  out << "{" << times.json() << ", \"decision\": " << times_json(decision_ms)
      << ", \"decisions\": {";
  const char* separator = "";
  for (const auto& [name, count] : decisions) {
    out << separator << "\"" << name << "\": " << count;
    separator = ", ";
  }
  out << "}}";
  return out.str();
}

std::string rss(int pid) {
  const Memory memory = memory_of(pid);
  return "{\"resident_bytes\": " + std::to_string(memory.resident) +
         ", \"peak_bytes\": " + std::to_string(memory.peak) +
         ", \"anonymous_bytes\": " + std::to_string(memory.anonymous) + "}";
}

void print_texts(int first, int count) {
  for (int i = 0; i < count; ++i) {
    std::cout << "{\"text\": \"" << user_text(first + i) << "\"}\n";
  }
}

void add_form(CLI::App& mode, RequestForm& form) {
  mode.add_option("--path", form.path, "Path of the requests");
  mode.add_option("--model", form.model, "Model that is asked for");
  mode.add_option("--key", form.key, "Key that is sent as a bearer token");
  mode.add_option("--system-bytes", form.system_bytes, "Bytes of the system message; 0: none")
      ->check(CLI::Range(0, 1 << 16));
}

void add_latency(CLI::App& mode, LatencyOptions& options) {
  mode.add_option("--direct", options.direct, "The backend's URL")->required();
  mode.add_option("--proxied", options.proxied, "The gateway's URL")->required();
  mode.add_option("--count", options.count, "Requests, half of them each way")
      ->check(CLI::Range(4, 10'000'000));
  mode.add_option("--warm-up", options.warm_up, "Requests before, not counted")
      ->check(CLI::NonNegativeNumber);
  mode.add_option("--first-text", options.first_text, "Number of the first message")
      ->check(CLI::NonNegativeNumber);
  add_form(mode, options.form);
}

void add_streams(CLI::App& mode, StreamLoad& load) {
  mode.add_option("--url", load.url, "Where streams are opened")->required();
  mode.add_option("--streams", load.streams, "Streams at once")->check(CLI::Range(1, 100'000));
  mode.add_option("--seconds", load.seconds, "Measured time, once all streams run")
      ->check(CLI::PositiveNumber);
  mode.add_option("--opening-max", load.opening_max, "Streams that wait for their first event")
      ->check(CLI::PositiveNumber);
  mode.add_option("--conversations", load.conversations, "Different first messages")
      ->check(CLI::PositiveNumber);
  mode.add_option("--pid", load.pids, "Processes whose processor time is reported");
  mode.add_option("--probe", load.probe_urls,
                  "Requests beside the streams: the backend's URL, then the gateway's")
      ->expected(2);
  mode.add_option("--probes-per-s", load.probes_per_s, "Of these at most so many a second")
      ->check(CLI::PositiveNumber);
  add_form(mode, load.form);
}

}  // namespace
}  // namespace layard::bench

int main(int argc, char** argv) {
  using namespace layard::bench;
  CLI::App app("Load for the gateway's benchmark; every mode prints one JSON object.");
  app.option_defaults()->always_capture_default();
  app.require_subcommand(1);
  LatencyOptions options;
  StreamLoad load;
  int pid = 0;
  int count = 100;
  auto* same = app.add_subcommand("latency", "One conversation, direct and proxied in turns");
  add_latency(*same, options);
  auto* fresh = app.add_subcommand("first_turn", "A new conversation with each request");
  add_latency(*fresh, options);
  auto* streams = app.add_subcommand("streams", "Many event streams at once");
  add_streams(*streams, load);
  auto* memory = app.add_subcommand("rss", "Memory of a process");
  memory->add_option("pid", pid, "Its number")->required();
  auto* texts = app.add_subcommand("texts", "The messages that first_turn sends");
  texts->add_option("--count", count, "How many")->check(CLI::PositiveNumber);
  texts->add_option("--first-text", options.first_text, "Number of the first message");
  CLI11_PARSE(app, argc, argv);
  raise_descriptor_limit();
  if (same->parsed()) std::cout << latency(options, true) << "\n";
  if (fresh->parsed()) std::cout << latency(options, false) << "\n";
  if (streams->parsed()) std::cout << run_stream_load(load) << "\n";
  if (memory->parsed()) std::cout << rss(pid) << "\n";
  if (texts->parsed()) print_texts(options.first_text, count);
  return 0;
}
