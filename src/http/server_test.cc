#include "http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "support/compress.h"
#include "support/http_world.h"
#include "support/tcp_client.h"

namespace layard::http {
namespace {

using testing::status_of;
using testing::TcpClient;
using namespace std::chrono_literals;

constexpr std::string_view kGet = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";

/// `/echo` answers with the body from another thread, `/hold` when it is released, `/stream` in
/// pieces.
class EchoHandler final : public Handler {
 public:
  EchoHandler() {
    worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  ~EchoHandler() override { release(); }

  Admission admit(const Request& request) override {
    Admission admission;
    if (request.path() == "/refuse") admission.refusal = make_response(429, "text/plain", "no");
    return admission;
  }

  void handle(Request request, Responder responder) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(request), std::move(responder)});
    ++arrived_;
    changed_.notify_all();
  }

  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  /// Waits until so many requests reached the handler.
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return arrived_ >= count; });
  }
  bool wait_for_cancelled(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return cancelled_ >= count; });
  }

 private:
  struct Job {
    Request request;
    Responder responder;
  };

  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      Job job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      answer(job, stop);
    }
  }

  void answer(Job& job, const std::stop_token& stop) {
    if (job.request.path() == "/hold") {
      const std::stop_callback wake(job.responder.cancelled(), [this] {
        const std::lock_guard lock(mutex_);
        ++cancelled_;
        changed_.notify_all();
      });
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop,
                    [&] { return released_ || job.responder.cancelled().stop_requested(); });
    }
    if (job.request.path() == "/stream") {
      job.responder.start(make_response(200, "text/event-stream", ""));
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(job.responder.write("data: " + std::to_string(i) + "\n\n"),
                  WriteStatus::kAccepted);
      }
      job.responder.finish();
      return;
    }
    job.responder.send(make_response(200, "text/plain", std::move(job.request.body)));
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  int arrived_ = 0;
  int cancelled_ = 0;
  bool released_ = false;
  std::jthread worker_;
};

struct Running {
  Running() : Running(ServerOptions()) {}
  explicit Running(const ServerOptions& options) {
    auto started = Server::start(options, handler);
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    server = *std::move(started);
  }
  TcpClient connect() const { return TcpClient(server->port()); }
  std::uint64_t refused(RefusalReason reason) const {
    return server->counters().refused[static_cast<std::size_t>(reason)];
  }
  /// Waits until `holds` of the counters, at most 10 s.
  bool eventually(const std::function<bool(const Counters&)>& holds) const {
    for (int i = 0; i < 1000; ++i) {
      if (holds(server->counters())) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  EchoHandler handler;
  std::unique_ptr<Server> server;
};

std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

TEST(HttpServer, ServesOnAFreePort) {
  const Running running;
  EXPECT_GT(running.server->port(), 0U);
  auto client = running.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(post("/echo", "hello"));
    const std::string response = client.receive_response();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_TRUE(response.ends_with("\r\n\r\nhello")) << response;
  }
  const Counters counters = running.server->counters();
  EXPECT_EQ(counters.connections_accepted, 1U);
  EXPECT_EQ(counters.connections_open, 1U);
  EXPECT_EQ(counters.requests, 3U);
  EXPECT_EQ(counters.responses[2], 3U);
  EXPECT_GT(counters.bytes_sent, 15U);
}

TEST(HttpServer, CompressedBodiesArriveDecoded) {
  const Running running;
  const std::string text(100'000, 'a');
  for (const bool use_gzip : {true, false}) {
    auto client = running.connect();
    const std::string body = use_gzip ? testing::gzip(text) : testing::zstd(text);
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: " +
                std::string(use_gzip ? "gzip" : "zstd") +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_TRUE(client.receive_response().ends_with(text));
  }
}

TEST(HttpServer, StreamsInChunks) {
  const Running running;
  auto client = running.connect();
  client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string response = client.receive_until("\r\n0\r\n\r\n");
  EXPECT_EQ(status_of(response), 200);
  EXPECT_NE(response.find("data: 0"), std::string::npos);
  EXPECT_NE(response.find("data: 2"), std::string::npos);
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  const Running running;
  auto client = running.connect();
  std::string all;
  for (int i = 0; i < 50; ++i) all += post(i % 7 == 3 ? "/refuse" : "/echo", std::to_string(i));
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    const std::string response = client.receive_response();
    EXPECT_EQ(status_of(response), i % 7 == 3 ? 429 : 200) << i;
    EXPECT_EQ(response.ends_with("\r\n\r\n" + std::to_string(i)), i % 7 != 3) << response;
  }
}

TEST(HttpServer, AHundredConnectionsAtATime) {
  ServerOptions options;
  options.io_threads = 2;
  const Running running(options);
  constexpr int kClients = 100;
  constexpr int kRequests = 20;
  std::vector<TcpClient> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(running.connect());
  for (int round = 0; round < kRequests; ++round) {
    for (int i = 0; i < kClients; ++i) {
      clients[static_cast<std::size_t>(i)].send(post("/echo", std::to_string(i * 1000 + round)));
    }
    for (int i = 0; i < kClients; ++i) {
      const std::string response = clients[static_cast<std::size_t>(i)].receive_response();
      ASSERT_TRUE(response.ends_with("\r\n\r\n" + std::to_string(i * 1000 + round))) << response;
    }
  }
  const Counters counters = running.server->counters();
  EXPECT_EQ(counters.connections_open, 100U);
  EXPECT_EQ(counters.requests, 2000U);
  EXPECT_EQ(counters.responses[2], 2000U);
}

TEST(HttpServer, ConnectionsOverTheBoundAreRefused) {
  ServerOptions options;
  options.connections_max = 2;
  options.connections_refusing_max = 1;
  const Running running(options);
  auto first = running.connect();
  auto second = running.connect();
  ASSERT_TRUE(running.eventually([](const Counters& now) { return now.connections_open == 2; }));
  auto third = running.connect();
  third.send(kGet);
  const std::string response = third.receive_all();
  EXPECT_EQ(status_of(response), 503);
  EXPECT_NE(response.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  auto fourth = running.connect();  // while the third is on its way out
  EXPECT_EQ(fourth.receive_all(), "");
  EXPECT_EQ(running.refused(RefusalReason::kConnections), 2U);
  first.close();
  third.close();
  ASSERT_TRUE(running.eventually([](const Counters& now) { return now.connections_open == 1; }));
  auto fifth = running.connect();
  fifth.send(kGet);
  EXPECT_EQ(status_of(fifth.receive_response()), 200);
}

TEST(HttpServer, SlowClientsAreCutOff) {
  ServerOptions options;
  options.head_ms = 200;
  options.body_ms = 200;
  options.idle_ms = 400;
  options.linger_ms = 100;
  const Running running(options);
  auto silent = running.connect();
  auto slow_head = running.connect();
  slow_head.send("GET / HT");
  auto slow_body = running.connect();
  slow_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx");
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_EQ(status_of(slow_head.receive_all()), 408);
  EXPECT_EQ(status_of(slow_body.receive_all()), 408);
  auto idle = running.connect();
  idle.send(kGet);
  EXPECT_EQ(status_of(idle.receive_response()), 200);
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_EQ(running.refused(RefusalReason::kHeadTime), 1U);
  EXPECT_EQ(running.refused(RefusalReason::kBodyTime), 1U);
  EXPECT_EQ(running.server->counters().connections_idle_closed, 2U);
}

TEST(HttpServer, AClientThatLeavesCancelsItsRequest) {
  for (const bool reset : {false, true}) {
    Running running;
    auto client = running.connect();
    client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(running.handler.wait_for(1));
    reset ? client.reset() : client.close();
    EXPECT_TRUE(running.handler.wait_for_cancelled(1));
    EXPECT_TRUE(running.eventually([](const Counters& now) {
      return now.clients_gone == 1 && now.requests_open == 0 && now.connections_open == 0;
    }));
  }
}

TEST(HttpServer, AnAbortInsideABodyLeavesNothing) {
  Running running;
  {
    auto client = running.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
                std::string(50'000, 'x'));
    ASSERT_TRUE(running.eventually([](const Counters& now) { return now.body_memory_bytes > 0; }));
    client.reset();
  }
  EXPECT_TRUE(running.eventually([](const Counters& now) {
    return now.clients_gone == 1 && now.body_memory_bytes == 0 && now.connections_open == 0;
  }));
}

TEST(HttpServer, ARefusalReachesAClientThatStillSends) {
  const Running running;
  auto client = running.connect();
  const std::string head = "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n";
  client.send(head + std::string(100'000, 'x'));
  std::this_thread::sleep_for(20ms);
  client.send(std::string(900'000, 'x'));
  EXPECT_EQ(status_of(client.receive_all()), 429);
}

TEST(HttpServer, StopFinishesWhatIsInFlight) {
  Running running;
  auto busy = running.connect();
  busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  auto idle = running.connect();
  ASSERT_TRUE(running.handler.wait_for(1));
  ASSERT_TRUE(running.eventually([](const Counters& now) { return now.connections_open == 2; }));
  running.server->stop();
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_THROW(running.connect(), std::runtime_error);  // nobody listens
  running.handler.release();
  const std::string response = busy.receive_all();
  EXPECT_EQ(status_of(response), 200);
  EXPECT_NE(response.find("\r\nConnection: close\r\n"), std::string::npos);
  running.server->wait();
  EXPECT_EQ(running.server->counters().connections_open, 0U);
}

// A connection that is accepted while the server stops must not be handed to a loop that has ended.
TEST(HttpServer, StopLeavesNoConnectionBehind) {
  for (int round = 0; round < 40; ++round) {
    ServerOptions options;
    options.io_threads = 3;
    Running running(options);
    std::vector<std::jthread> clients;
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back([&running](const std::stop_token& stop) {
        try {
          while (!stop.stop_requested()) running.connect();
        } catch (const std::runtime_error&) {
          // It no longer listens.
        }
      });
    }
    ASSERT_TRUE(
        running.eventually([](const Counters& now) { return now.connections_accepted > 20; }));
    running.server->stop();
    running.server->wait();
    EXPECT_EQ(running.server->counters().connections_open, 0U) << round;
  }
}

TEST(HttpServer, ADrainHasAnEnd) {
  ServerOptions options;
  options.drain_ms = 100;
  options.io_threads = 2;
  Running running(options);
  auto busy = running.connect();
  busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(running.handler.wait_for(1));
  running.server->stop();
  running.server->wait();
  EXPECT_TRUE(running.handler.wait_for_cancelled(1));
  EXPECT_EQ(busy.receive_all(), "");
}

TEST(HttpServer, ASecondStopCutsAtOnce) {
  ServerOptions options;
  options.drain_ms = 60'000;
  Running running(options);
  auto busy = running.connect();
  busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(running.handler.wait_for(1));
  running.server->stop();
  running.server->stop();
  running.server->wait();
  EXPECT_TRUE(running.handler.wait_for_cancelled(1));
  EXPECT_EQ(busy.receive_all(), "");
}

// A handler's thread may answer long after the server is gone.
TEST(HttpServer, AResponderMayOutliveTheServer) {
  class Keeper final : public Handler {
   public:
    Admission admit(const Request&) override { return {}; }
    void handle(Request request, Responder responder) override {
      const std::lock_guard lock(mutex);
      requests.push_back(std::move(request));
      responders.push_back(std::move(responder));
      kept = true;
    }
    std::mutex mutex;
    std::vector<Request> requests;
    std::vector<Responder> responders;
    std::atomic<bool> kept{false};
  };
  Keeper keeper;
  ServerOptions options;
  options.drain_ms = 0;
  auto server = Server::start(options, keeper);
  ASSERT_TRUE(server.ok());
  TcpClient client((*server)->port());
  client.send(post("/", "hello"));
  while (!keeper.kept) std::this_thread::sleep_for(1ms);
  *server = nullptr;
  keeper.responders[0].start({});
  EXPECT_EQ(keeper.responders[0].write("x"), WriteStatus::kGone);
  keeper.responders[0].send({});
}

// What a handler makes for a loop lives on the loop's thread, from before its first request until
// the handler says that it is gone.
TEST(HttpServer, AHandlerHasEachLoopFromItsBeginToItsEnd) {
  class PerLoop final : public Handler {
   public:
    Admission admit(const Request&) override { return {}; }
    void handle(Request request, Responder responder) override {
      const std::lock_guard lock(mutex);
      const bool known = threads.contains(request.loop);
      EXPECT_TRUE(known && threads[request.loop] == std::this_thread::get_id());
      responder.send(make_response(200, "text/plain", "ok"));
    }
    void loop_begins(SocketLoop& loop) override {
      const std::lock_guard lock(mutex);
      threads[&loop] = std::this_thread::get_id();
    }
    void loop_ends(SocketLoop& loop, std::function<void()> done) override {
      loop.call_after(30, [this, done = std::move(done)] {
        ++ended;
        done();
      });
    }
    std::mutex mutex;
    std::map<Loop*, std::thread::id> threads;
    std::atomic<int> ended{0};
  };
  PerLoop handler;
  ServerOptions options;
  options.io_threads = 2;
  auto server = Server::start(options, handler);
  ASSERT_TRUE(server.ok());
  for (int i = 0; i < 4; ++i) {
    TcpClient client((*server)->port());
    client.send(std::string(kGet));
    EXPECT_EQ(status_of(client.receive_response()), 200);
  }
  EXPECT_EQ(handler.threads.size(), 2U);
  EXPECT_EQ(handler.ended, 0);
  (*server)->stop();
  (*server)->wait();
  EXPECT_EQ(handler.ended, 2);
}

TEST(HttpServer, TwoServersCannotShareAPort) {
  const Running running;
  ServerOptions options;
  options.port = running.server->port();
  EchoHandler handler;
  const auto second = Server::start(options, handler);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace layard::http
