/// A gateway on a free port in this process, with devices that a test scripts and a class source
/// that it plays itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/filesystem.h"
#include "gateway/class_source.h"
#include "gateway/device_prober.h"
#include "gateway/gateway_core.h"
#include "gateway/gateway_handler.h"
#include "http/server.h"
#include "support/scripted_server.h"
#include "support/tcp_client.h"
#include "support/temp_dir.h"

namespace layard::testing {

/// Waits up to 5 s.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 2500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

/// Answers when a test says. Thread-safe.
class FakeClasses final : public gateway::ClassSource {
 public:
  /// Every question at once, with this class; empty: a test answers with answer().
  explicit FakeClasses(std::string at_once = "") : at_once_(std::move(at_once)) {}

  Ticket ask(const gateway::RouteQuestion& question, gateway::ClassQuery query,
             Done done) override {
    std::string name;
    Ticket ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      if (throws_) throw std::bad_alloc();
      ticket = ++last_;
      queries_.push_back(std::move(query));
      name = at_once_;
      if (name.empty()) waiting_.emplace(ticket, Waiting{&question, std::move(done)});
    }
    if (!name.empty()) done(class_of(name));
    return ticket;
  }
  void cancel(Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(ticket);
  }

  /// Answers the oldest question that waits, from this thread; false: there is none.
  bool answer(Result<gateway::RequestClass> answer) {
    Waiting one;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      one = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    static_cast<void>(one.question->predict_options());  // as a model's answer is read with it
    one.done(std::move(answer));
    return true;
  }
  bool answer(const std::string& name) { return answer(class_of(name)); }
  /// Drops the questions that wait, unanswered.
  void drop() {
    std::map<Ticket, Waiting> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(waiting_);
  }
  void throw_from_now_on() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }
  std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return queries_.size();
  }
  std::size_t cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_.size();
  }
  gateway::ClassQuery query(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return queries_.at(index);
  }

  static gateway::RequestClass class_of(const std::string& name) {
    gateway::RequestClass out;
    out.name = name;
    out.confidence = 0.75;
    out.state_tokens = 11;
    return out;
  }

 private:
  struct Waiting {
    const gateway::RouteQuestion* question = nullptr;
    Done done;
  };

  mutable std::mutex mutex_;
  const std::string at_once_;
  bool throws_ = false;
  Ticket last_ = 0;
  std::vector<gateway::ClassQuery> queries_;
  std::map<Ticket, Waiting> waiting_;
  std::vector<Ticket> cancelled_;
};

/// What a device was sent.
struct SeenRequest {
  std::string head;
  std::string body;
};

/// A device: `serve` answers each request, one after the other on a connection; /health is 200.
class FakeDevice {
 public:
  using Serve = std::function<void(ServedConnection& connection, const SeenRequest& request)>;

  static constexpr const char* kReply = R"({"model":"m-dev","choices":[]})";

  FakeDevice() : FakeDevice(reply_json(kReply)) {}
  explicit FakeDevice(Serve serve)
      : serve_(std::move(serve)), server_(std::bind_front(&FakeDevice::serve_all, this)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  std::size_t seen() const {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  SeenRequest request(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return requests_.at(index);
  }
  std::size_t probes() const { return probes_; }
  /// When a connection ended that was waiting in `wait_for_end`.
  std::size_t ends() const { return ends_; }
  void wait_for_end(ServedConnection& connection) {
    if (connection.sees_end()) ++ends_;
  }

  static std::string response(std::string_view body, int status = 200,
                              std::string_view fields = "Content-Type: application/json\r\n") {
    return "HTTP/1.1 " + std::to_string(status) + " Some\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
  static Serve reply_json(std::string body, int status = 200, std::string fields = "") {
    return [text = response(body, status, "Content-Type: application/json\r\n" + fields)](
               ServedConnection& connection, const SeenRequest&) { connection.send(text); };
  }
  static std::string chunk(std::string_view bytes) {
    std::array<char, 32> size;
    std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    return size.data() + std::string(bytes) + "\r\n";
  }
  static constexpr const char* kStreamHead =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  static constexpr const char* kLastChunk = "0\r\n\r\n";

 private:
  void serve_all(ServedConnection& connection, std::size_t /*index*/) {
    while (connection.socket() >= 0) {
      SeenRequest request;
      request.head = connection.receive_head();
      if (request.head.empty()) return;
      constexpr std::string_view kLength = "Content-Length: ";
      if (const auto at = request.head.find(kLength); at != std::string::npos) {
        const auto size = std::strtoul(request.head.c_str() + at + kLength.size(), nullptr, 10);
        request.body = connection.receive_bytes(size);
      }
      if (request.head.starts_with("GET /health ")) {
        ++probes_;
        connection.send(response("{}"));
        continue;
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      serve_(connection, request);
    }
  }

  Serve serve_;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> requests_;
  std::atomic<std::size_t> probes_ = 0;
  std::atomic<std::size_t> ends_ = 0;
  ScriptedServer server_;  // last: its threads use the rest
};

/// A door that a script waits at, for 10 s at most.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

/// A policy of version 1 over devices `name: members`; the first is the default. Class `code` goes
/// to the second one, if there is one, with the others as alternates; the other classes to the
/// first.
struct PolicyText {
  std::vector<std::pair<std::string, std::string>> devices = {};  // members: `"url": "...", ...`
  std::string more = {};  // members of the policy, each with a comma
  std::vector<std::string> classes = {"code", "prose", "short"};
  bool gate = false;

  std::string text() const {
    std::string rows;
    std::string servers;
    std::string options;
    const std::string& second = devices.size() > 1 ? devices[1].first : devices[0].first;
    for (const std::string& name : classes) {
      const bool is_off = name == "code" && devices.size() > 1;
      rows += (rows.empty() ? "" : ",") + ("\"" + name + "\":{\"device\":\"") +
              (is_off ? second + "\",\"evidence\":\"e\"}" : devices[0].first + "\"}");
      options += (options.empty() ? "\"" : ",\"") + name + "\":\"about " + name + "\"";
    }
    for (const auto& [name, members] : devices) {
      servers += (servers.empty() ? "\"" : ",\"") + name + "\":{" + members + "}";
    }
    if (gate) rows += ",\"long_doc\":{\"device\":\"" + devices[0].first + "\"}";
    return "{\"version\":1,\"default\":\"" + devices[0].first + "\"," + more +
           (gate ? "\"size_gate\":{\"min\":1000}," : "\"size_gate\":false,") +
           "\"min_confidence\":0," + "\"question\":{\"options\":{" + options + "}}," +
           "\"classes\":{" + rows + "},\"devices\":{" + servers + "}," +
           "\"evidence\":{\"e\":{\"n\":24,\"baseline\":\"" + devices[0].first +
           "\",\"gain_ms\":310,\"ci95_ms\":[220,400],\"date\":\"2026-11-01\"}}}";
  }
};

/// `"url":"http://..."` and more.
inline std::string at(const FakeDevice& device, const std::string& more = "") {
  return "\"url\":\"" + device.url() + "\"" + (more.empty() ? "" : "," + more);
}

inline std::string chat_body(const std::string& text, bool stream = false) {
  return R"({"model":"m","stream":)" + std::string(stream ? "true" : "false") +
         R"(,"messages":[{"role":"user","content":")" + text + R"("}]})";
}

/// A request, its head and its body.
inline std::string post(const std::string& body, const std::string& fields = "",
                        const std::string& path = "/v1/chat/completions") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// The value of a response's field, or nothing.
inline std::string field_of(const std::string& response, const std::string& name) {
  const auto begin = response.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "";
  const auto at = begin + name.size() + 4;
  return response.substr(at, response.find("\r\n", at) - at);
}

/// What stands in the chunks of a response; of one that is cut, what came.
inline std::string unchunked(const std::string& response) {
  std::string out;
  auto at = response.find("\r\n\r\n");
  if (at == std::string::npos) return out;
  at += 4;
  while (at < response.size()) {
    const auto size = std::strtoul(response.c_str() + at, nullptr, 16);
    const auto data = response.find("\r\n", at);
    if (data == std::string::npos || size == 0) break;
    out += response.substr(data + 2, size);
    at = data + 2 + size + 2;
  }
  return out;
}

/// Devices must outlive it: they wait for its connections to close.
class GatewayWorld {
 public:
  struct Parts {
    PolicyText policy = {};
    std::function<void(gateway::GatewayOptions&)> options = {};
    gateway::ClassSource* classes = nullptr;
    gateway::DecisionLog* decisions = nullptr;
    bool probes = false;
  };

  explicit GatewayWorld(Parts parts)
      : log_(base::LogFormat::kText, base::LogLevel::kDebug, line_taker()) {
    options_.keepalive_ms = 0;
    options_.http.drain_ms = 2000;
    if (parts.options) parts.options(options_);
    auto setup = read(parts.policy);
    if (!setup.ok()) throw std::runtime_error(setup.error().message);
    core_ = std::make_unique<gateway::GatewayCore>(options_, *std::move(setup), parts.classes,
                                                   parts.decisions, log_);
    handler_ = std::make_unique<gateway::GatewayHandler>(
        *core_, [this] { return on_reload ? on_reload() : std::string("no reload here"); });
    prober_ = std::make_unique<gateway::DeviceProber>(*core_, nullptr);
    auto server = http::Server::start(options_.http, *handler_);
    if (!server.ok()) throw std::runtime_error(server.error().message);
    server_ = *std::move(server);
    if (parts.probes) {
      comes_true([this] {
        return handler_->on_some_loop([this](gateway::GatewayLoop& loop) { prober_->start(loop); });
      });
    }
  }
  ~GatewayWorld() {
    prober_->stop();
    core_->setup()->fleet->close();
    server_.reset();
    core_->side.close();
  }

  TcpClient connect() const { return TcpClient(server_->port()); }
  /// The response to one request on a connection of its own.
  std::string ask(const std::string& request) const {
    TcpClient client = connect();
    client.send(request);
    return client.receive_response();
  }
  std::string chat(const std::string& text, const std::string& fields = "") const {
    return ask(post(chat_body(text), fields));
  }
  /// A streamed request, until its end.
  std::string stream(const std::string& text) const {
    TcpClient client = connect();
    client.send(post(chat_body(text, true), "Connection: close\r\n"));
    return client.receive_all();
  }

  /// As GatewayServer::reload.
  void put_policy(const PolicyText& policy) {
    auto setup = read(policy);
    if (!setup.ok()) throw std::runtime_error(setup.error().message);
    const auto old = core_->setup();
    core_->replace_setup(*std::move(setup));
    old->fleet->close();
  }

  /// Whether nothing is under way any more: all counts are zero. Waits for it.
  bool becomes_idle() const {
    return comes_true([this] { return busy().empty(); });
  }
  /// What is under way.
  std::string busy() const {
    std::string out;
    if (const auto n = core_->stats.snapshot().in_flight; n != 0)
      out += " stats " + std::to_string(n);
    for (const auto& device : core_->setup()->fleet->view(core_->clock.now_ns())) {
      if (device.in_flight != 0) out += " in_flight of " + device.name;
      if (device.waiting != 0) out += " waiting of " + device.name;
    }
    if (core_->limiter.in_flight() != 0) out += " leases";
    if (server_->counters().requests_open != 0) out += " requests";
    if (server_->counters().body_memory_bytes != 0) out += " bodies";
    return out;
  }
  gateway::DeviceView device(std::size_t index) const {
    return core_->setup()->fleet->view(core_->clock.now_ns()).at(index);
  }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  gateway::StatsSnapshot stats() const { return core_->stats.snapshot(); }
  gateway::GatewayCore& core() { return *core_; }
  gateway::GatewayHandler& handler() { return *handler_; }
  http::Server& server() { return *server_; }

  std::function<std::string()> on_reload;

 private:
  Result<gateway::GatewaySetupPtr> read(const PolicyText& policy) {
    const base::FixedEnv env(
        std::map<std::string, std::string, std::less<>>{{"DEVICE_KEY", "device-secret"}});
    write_file(folder_ / "policy.json", policy.text());
    return gateway::make_setup(
        {(folder_ / "policy.json").string(), {}, options_.device, &env, &base::real_filesystem()});
  }
  base::LogFunction line_taker() {
    return [this](std::string_view, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_ += std::string(line) + "\n";
    };
  }

  TempDir folder_;
  mutable std::mutex mutex_;
  std::string lines_;  // guarded by mutex_
  gateway::GatewayOptions options_;
  base::EventLog log_;
  std::unique_ptr<gateway::GatewayCore> core_;
  std::unique_ptr<gateway::GatewayHandler> handler_;
  std::unique_ptr<gateway::DeviceProber> prober_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace layard::testing
