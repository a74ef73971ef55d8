#include "http/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "http/response_head.h"
#include "support/client_world.h"
#include "support/scripted_server.h"

namespace layard::http {
namespace {

using testing::ClientWorld;
using testing::HeldResult;
using testing::ScriptedServer;
using testing::ServedConnection;
using Clock = std::chrono::steady_clock;

constexpr const char* kEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

Upstream at(const ScriptedServer& server) { return {false, "127.0.0.1", server.port(), ""}; }

std::optional<ClientFault> fault_of(const HeldResult& held) {
  const auto* const error = std::get_if<ClientError>(&**held);
  return error == nullptr ? std::nullopt : std::optional(error->fault);
}

int status_of(const HeldResult& held) {
  const auto* const response = std::get_if<ClientResponse>(&**held);
  return response == nullptr ? 0 : response->status;
}

ClientRequest post(std::string body) {
  ClientRequest request;
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Answers each request of a connection with an empty 200.
void answer_all(ServedConnection& connection, std::size_t) {
  while (!connection.receive_head().empty()) connection.send(kEmpty);
}

TEST(HttpClient, APieceIsThereBeforeTheNextIsSent) {
  const std::string heads[] = {"Transfer-Encoding: chunked\r\n", "Content-Length: 50\r\n",
                               "Connection: close\r\n"};
  for (const auto& head : heads) {
    const bool chunked = head.starts_with("T");
    std::binary_semaphore go_on(0);
    ScriptedServer server([&](ServedConnection& connection, std::size_t) {
      connection.receive_head();
      connection.send("HTTP/1.1 200 OK\r\n" + head + "\r\n");
      for (int i = 0; i < 50; ++i) {
        if (!go_on.try_acquire_for(std::chrono::seconds(10))) return;
        connection.send(chunked ? "1\r\nx\r\n" : "x");
      }
      if (chunked) connection.send("0\r\n\r\n");
    });
    ClientWorld world;
    const auto held = world.send(at(server));
    ASSERT_EQ(status_of(held), 200);
    for (int i = 0; i < 50; ++i) {
      go_on.release();
      const auto piece = world.read(held);
      ASSERT_EQ(piece.bytes, "x") << head << i;
    }
    EXPECT_EQ(world.read(held).state, BodyRead::State::kEnd);
  }
}

TEST(HttpClient, AThousandPiecesAndSingleBytes) {
  std::string body;
  std::string chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string line = "data: " + std::to_string(i) + "\n\n";
    body += line;
    append_chunk(chunks, line);
  }
  chunks += kLastChunk;
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    connection.send(chunks);
    connection.receive_head();
    for (const char& byte : chunks) connection.send(std::string_view(&byte, 1));
  });
  ClientWorld world;
  for (int turn = 0; turn < 2; ++turn) {
    const auto held = world.send(at(server));
    const auto all = world.read_all(held);
    EXPECT_EQ(all.state, BodyRead::State::kEnd);
    EXPECT_EQ(all.bytes, body);
  }
  EXPECT_EQ(server.accepted(), 1U);
}

TEST(HttpClient, LargeBodiesBothWays) {
  const std::string body(8 << 20, 'b');
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    EXPECT_EQ(connection.receive_bytes(body.size()), body);
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n");
    connection.send(body);
  });
  ClientWorld world;
  const auto held = world.send(at(server), post(body));
  ASSERT_EQ(status_of(held), 200);
  const auto piece = world.read(held);
  EXPECT_LE(piece.bytes.size(), 64U * 1024);
  const auto rest = world.read_all(held);
  EXPECT_EQ(rest.state, BodyRead::State::kEnd);
  EXPECT_EQ(piece.bytes + rest.bytes, body);
}

TEST(HttpClient, PeersThatStallAtEveryStage) {
  ClientOptions options;
  options.write_ms = options.head_ms = options.idle_ms = 100;
  struct Case {
    std::string sent;
    ClientFault fault;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Case cases[] = {
      {"", ClientFault::kHeadTimeout},
      {"H", ClientFault::kHeadTimeout},
      {"HTTP/1.1 200 OK\r\nA: b\r\n", ClientFault::kHeadTimeout},
      {"HTTP/1.1 100 Continue\r\n\r\n", ClientFault::kHeadTimeout},
      {head, ClientFault::kIdleTimeout},
      {head + "5", ClientFault::kIdleTimeout},
      {head + "5\r\nab", ClientFault::kIdleTimeout},
      {head + "2\r\nab\r\n0\r\n", ClientFault::kIdleTimeout},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd", ClientFault::kIdleTimeout},
      {"HTTP/1.1 200 OK\r\n\r\nabcd", ClientFault::kIdleTimeout},
  };
  for (const auto& [sent, fault] : cases) {
    std::atomic<bool> closed = false;
    {
      ScriptedServer server([&](ServedConnection& connection, std::size_t) {
        connection.receive_head();
        connection.send(sent);
        closed = connection.sees_end();
      });
      ClientWorld world(options);
      const auto held = world.send(at(server));
      if (fault == ClientFault::kHeadTimeout) {
        EXPECT_EQ(fault_of(held), fault) << sent;
      } else {
        ASSERT_EQ(status_of(held), 200) << sent;
        EXPECT_EQ(world.read_all(held).fault, fault) << sent;
      }
    }
    EXPECT_TRUE(closed) << sent;
  }
}

TEST(HttpClient, APeerThatTakesNothingStallsTheRequest) {
  ClientOptions options;
  options.write_ms = 100;
  std::promise<void> done;
  ScriptedServer server(
      [waits = done.get_future().share()](ServedConnection&, std::size_t) { waits.wait(); });
  ClientWorld world(options);
  const auto held = world.send(at(server), post(std::string(32 << 20, 'x')));
  EXPECT_EQ(fault_of(held), ClientFault::kWriteTimeout);
  EXPECT_TRUE(std::get<ClientError>(**held).request_sent);
  done.set_value();
}

TEST(HttpClient, PeersThatCloseOrResetAtEveryByte) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const auto head_size = bytes.find("\r\n\r\n") + 4;
  for (const bool resets : {false, true}) {
    ScriptedServer server([&](ServedConnection& connection, std::size_t index) {
      connection.receive_head();
      connection.send(bytes.substr(0, index));
      if (resets) connection.reset();
    });
    ClientWorld world;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto held = world.send(at(server), post("x"));
      // A reset may overtake what was sent before it.
      if (size < head_size || fault_of(held)) {
        EXPECT_EQ(fault_of(held), ClientFault::kConnectionLost) << size;
        EXPECT_TRUE(size < head_size || resets);
        continue;
      }
      EXPECT_EQ(world.read_all(held).fault, ClientFault::kCutShort) << size;
    }
    EXPECT_EQ(server.accepted(), bytes.size());
    EXPECT_EQ(world.kept(), 0U);
  }
}

TEST(HttpClient, ConnectionsAreUsedAgain) {
  ScriptedServer server(answer_all);
  ClientWorld world;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status_of(world.send(at(server))), 200);
  EXPECT_EQ(world.kept(), 1U);
  EXPECT_EQ(server.accepted(), 1U);
}

TEST(HttpClient, ConnectionsThatTheServerClosesAreNotUsedAgain) {
  ScriptedServer server([](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    connection.send(kEmpty);
  });
  ClientWorld world;
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(status_of(world.send(at(server))), 200);
    EXPECT_EQ(server.accepted(), i);
  }
}

TEST(HttpClient, KeptConnectionsAreBounded) {
  ClientOptions options;
  options.kept_per_upstream_max = 2;
  std::counting_semaphore<8> go_on(0);
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    go_on.acquire();
    connection.send("x");
    connection.sees_end();
  });
  {
    ClientWorld world(options);
    std::vector<HeldResult> all;
    for (int i = 0; i < 5; ++i) all.push_back(world.send(at(server)));
    EXPECT_EQ(world.open(), 5U);
    go_on.release(5);
    for (const auto& held : all) EXPECT_EQ(world.read_all(held).bytes, "x");
    EXPECT_EQ(world.kept(), 2U);
  }
  EXPECT_EQ(server.accepted(), 5U);
}

TEST(HttpClient, CancellingFromAnotherThreadClosesAtOnce) {
  for (const bool in_body : {false, true}) {
    std::promise<Clock::time_point> ended;
    std::promise<void> begun;
    ScriptedServer server([&](ServedConnection& connection, std::size_t) {
      connection.receive_head();
      if (in_body) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
      begun.set_value();
      if (connection.sees_end()) ended.set_value(Clock::now());
    });
    ClientWorld world;
    std::stop_source stop;
    ClientRequest request;
    request.cancel = stop.get_token();
    Clock::time_point asked;
    std::thread other([&] {
      begun.get_future().get();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      asked = Clock::now();
      stop.request_stop();
    });
    const auto held = world.send(at(server), request);
    if (in_body) {
      EXPECT_EQ(world.read_all(held).fault, ClientFault::kCancelled);
    } else {
      EXPECT_EQ(fault_of(held), ClientFault::kCancelled);
    }
    other.join();
    const auto closed = ended.get_future().get();
    EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(closed - asked).count(), 100);
  }
}

TEST(HttpClient, LettingGoOfAResponseClosesAtOnce) {
  std::promise<void> ended;
  ScriptedServer server([&](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (connection.sees_end()) ended.set_value();
  });
  ClientWorld world;
  const auto held = world.send(at(server));
  const auto begin = Clock::now();
  world.drop(held);
  ended.get_future().get();
  EXPECT_LT(ms_since(begin), 100.0);
}

TEST(HttpClient, RedirectsAreGivenBack) {
  ScriptedServer server([](ServedConnection& connection, std::size_t) {
    connection.receive_head();
    connection.send("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(connection.receive_head(), "");
  });
  ClientWorld world;
  const auto held = world.send(at(server));
  EXPECT_EQ(status_of(held), 302);
  EXPECT_EQ(std::get<ClientResponse>(**held).fields.value_or_empty("location"), "/elsewhere");
}

TEST(HttpClient, FailuresToConnectAreToldApart) {
  unsigned closed_port = 0;
  {
    ScriptedServer server([](ServedConnection&, std::size_t) {});
    closed_port = server.port();
  }
  ClientWorld world;
  EXPECT_EQ(fault_of(world.send({false, "127.0.0.1", closed_port, ""})), ClientFault::kRefused);
  EXPECT_EQ(fault_of(world.send({false, "a..b", 80, ""})), ClientFault::kUnresolved);
  EXPECT_EQ(world.open(), 0U);
}

TEST(HttpClient, TwoLoopsWorkSideBySide) {
  ScriptedServer server(answer_all);
  std::stop_source stop;
  std::atomic<int> good = 0;
  const auto work = [&] {
    ClientWorld world;
    ClientRequest request;
    request.cancel = stop.get_token();
    for (int i = 0; i < 50; ++i) good += status_of(world.send(at(server), request)) == 200 ? 1 : 0;
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  EXPECT_EQ(good, 100);
  EXPECT_EQ(server.accepted(), 2U);
}

TEST(HttpClient, EachLoopHearsOfACommonCancellation) {
  ScriptedServer server([](ServedConnection& connection, std::size_t) { connection.sees_end(); });
  std::stop_source stop;
  std::atomic<int> cancelled = 0;
  const auto work = [&] {
    ClientWorld world;
    ClientRequest request;
    request.cancel = stop.get_token();
    if (fault_of(world.send(at(server), request)) == ClientFault::kCancelled) ++cancelled;
  };
  std::thread first(work);
  std::thread second(work);
  while (server.accepted() < 2) std::this_thread::yield();
  stop.request_stop();
  first.join();
  second.join();
  EXPECT_EQ(cancelled, 2);
}

}  // namespace
}  // namespace layard::http
