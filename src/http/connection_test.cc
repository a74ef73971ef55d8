#include "http/connection.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/compress.h"
#include "support/hostile_requests.h"
#include "support/http_world.h"

namespace layard::http {
namespace {

using testing::HttpWorld;
using testing::status_of;
using ::testing::Test;

constexpr std::string_view kGet = "GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n";

std::string post(std::string_view fields, std::string_view body) {
  return testing::hostile_post(fields, body);
}

std::string body_of(std::string_view response) {
  const auto end = response.find("\r\n\r\n");
  return end == std::string_view::npos ? std::string() : std::string(response.substr(end + 4));
}

void answer(Responder responder, std::string body) {
  responder.send(make_response(200, "text/plain", std::move(body)));
}

TEST(HttpConnection, AnswersAndStaysOpen) {
  HttpWorld world;
  auto client = world.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(kGet);
    ASSERT_EQ(world.handler.responders.size(), 1U);
    EXPECT_EQ(client.received(), "");
    answer(std::move(world.handler.responders[0]), "hello");
    world.handler.responders.clear();
    const std::string response = client.received();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_NE(response.find("\r\nContent-Length: 5\r\n"), std::string::npos);
    EXPECT_NE(response.find("\r\nDate: "), std::string::npos);
    EXPECT_EQ(response.find("Connection"), std::string::npos);
    EXPECT_EQ(body_of(response), "hello");
  }
  EXPECT_FALSE(client.is_closed());
  const Request& request = world.handler.requests[0];
  EXPECT_EQ(request.path(), "/a");
  EXPECT_EQ(request.query(), "b");
  EXPECT_EQ(request.peer_address, "192.0.2.7");
  EXPECT_LE(request.received_ns, request.body_done_ns);
  EXPECT_EQ(world.counters().requests, 3U);
  EXPECT_EQ(world.counters().responses[2], 3U);
  EXPECT_EQ(world.counters().requests_open, 0U);
}

TEST(HttpConnection, PipelinedRequestsAreAnsweredInOrder) {
  HttpWorld world;
  auto client = world.connect();
  client.send(std::string(kGet) + post("Content-Length: 2\r\n", "{}") + std::string(kGet));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(world.handler.responders.size(), static_cast<std::size_t>(i) + 1);
    answer(std::move(world.handler.responders.back()), std::to_string(i));
    EXPECT_EQ(body_of(client.received()), std::to_string(i));
  }
  EXPECT_EQ(world.handler.requests[1].body, "{}");
}

TEST(HttpConnection, ClosesWhenEitherSideSaysSo) {
  const auto check = [](std::string_view request, bool handler_closes, std::string_view says,
                        bool closed) {
    HttpWorld world;
    world.handler.on_handle = [&](Responder responder) {
      Response response = make_response(200, "text/plain", "x");
      response.close = handler_closes;
      responder.send(std::move(response));
    };
    auto client = world.connect();
    client.send(request);
    const std::string response = client.received();
    const auto field = "\r\nConnection: " + std::string(says) + "\r\n";
    EXPECT_EQ(response.find(field) != std::string::npos, !says.empty()) << response;
    EXPECT_EQ(client.is_closed(), closed) << request;
    EXPECT_EQ(world.set.size(), closed ? 0U : 1U);
  };
  check(kGet, false, "", false);
  check(kGet, true, "close", true);
  check("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false, "close", true);
  check("GET / HTTP/1.0\r\n\r\n", false, "close", true);
  check("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, "keep-alive", false);
}

TEST(HttpConnection, ResponsesWithoutABody) {
  const auto check = [](std::string_view method, int status, std::string_view length) {
    HttpWorld world;
    world.handler.on_handle = [&](Responder responder) {
      responder.send(make_response(status, "text/plain", "hello"));
    };
    auto client = world.connect();
    client.send(std::string(method) + " / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string response = client.received();
    EXPECT_EQ(body_of(response), "");
    EXPECT_EQ(response.find("Content-Length") != std::string::npos, !length.empty()) << response;
    client.send(kGet);
    EXPECT_EQ(world.handler.requests.size(), 2U);
  };
  check("HEAD", 200, "5");
  check("GET", 204, "");
  check("GET", 304, "");
}

TEST(HttpConnection, BodiesAreWholeAndDecoded) {
  const auto check = [](const std::string& request, std::string_view body, std::uint64_t wire) {
    HttpWorld world;
    auto client = world.connect();
    client.wire().piece_bytes_max = 3;
    client.send(request);
    ASSERT_EQ(world.handler.requests.size(), 1U) << client.received();
    EXPECT_EQ(world.handler.requests[0].body, body);
    EXPECT_EQ(world.handler.requests[0].body_wire_bytes, wire);
  };
  const std::string text(5000, 'a');
  const std::string gz = testing::gzip(text);
  const std::string zs = testing::zstd(text);
  check(post("Content-Length: 5\r\n", "hello"), "hello", 5);
  check(post("Transfer-Encoding: chunked\r\n", "3\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n"), "hello",
        5);
  const auto length = [](const std::string& body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n";
  };
  check(post("Content-Encoding: gzip\r\n" + length(gz), gz), text, gz.size());
  check(post("Content-Encoding: zstd\r\n" + length(zs), zs), text, zs.size());
  check(post("Content-Encoding: gzip\r\nContent-Length: 0\r\n", ""), "", 0);
}

TEST(HttpConnection, AdmissionComesBeforeTheBody) {
  HttpWorld world;
  auto ticket = std::make_shared<int>(1);
  world.handler.on_admit = [&](const Request& request) {
    EXPECT_EQ(request.body, "");
    EXPECT_EQ(request.fields.find("Content-Length"), "5");
    Admission admission;
    admission.ticket = ticket;
    return admission;
  };
  auto client = world.connect();
  client.send(post("Content-Length: 5\r\n", "he"));
  EXPECT_EQ(world.handler.admitted, 1);
  EXPECT_EQ(world.handler.requests.size(), 0U);
  EXPECT_EQ(ticket.use_count(), 2);
  client.close();  // the body never comes
  EXPECT_EQ(ticket.use_count(), 1);
  EXPECT_EQ(world.counters().clients_gone, 1U);
  EXPECT_EQ(world.counters().body_memory_bytes, 0U);
}

TEST(HttpConnection, TheTicketTravelsWithTheRequest) {
  HttpWorld world;
  auto ticket = std::make_shared<int>(1);
  world.handler.on_admit = [&](const Request&) {
    Admission admission;
    admission.ticket = ticket;
    return admission;
  };
  auto client = world.connect();
  client.send(post("Content-Length: 2\r\n", "{}"));
  ASSERT_EQ(world.handler.requests.size(), 1U);
  client.reset();
  EXPECT_EQ(ticket.use_count(), 2);  // the handler still works on it
  EXPECT_GT(world.counters().body_memory_bytes, 0U);
  world.handler.requests.clear();
  EXPECT_EQ(ticket.use_count(), 1);
  EXPECT_EQ(world.counters().body_memory_bytes, 0U);
}

Admission refuse_with(int status) {
  Admission admission;
  admission.refusal = make_response(status, "text/plain", "no");
  return admission;
}

// A small body that is already on its way is dropped and the connection lives; else it closes.
TEST(HttpConnection, ARefusedRequestsBodyIsNotRead) {
  const auto check = [](const std::string& request, bool closed) {
    ServerOptions options;
    options.discard_bytes_max = 8;
    HttpWorld world(options);
    world.handler.on_admit = [](const Request& asked) {
      return asked.method == "GET" ? Admission{} : refuse_with(429);
    };
    auto client = world.connect();
    client.send(request + std::string(kGet));
    EXPECT_EQ(status_of(client.received()), 429) << request;
    EXPECT_EQ(world.handler.requests.size(), closed ? 0U : 1U) << request;
    EXPECT_EQ(client.wire().send_shut, closed) << request;
    EXPECT_EQ(world.counters().refused_by_handler, 1U);
    client.close();
    EXPECT_EQ(client.is_closed(), true);
  };
  check(post("Content-Length: 8\r\n", "12345678"), false);
  check(post("Content-Length: 0\r\n", ""), false);
  check(post("", ""), false);
  check(post("Content-Length: 9\r\n", "123456789"), true);
  check(post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), true);
  check(post("Content-Length: 8\r\nExpect: 100-continue\r\n", ""), true);
}

TEST(HttpConnection, ExpectationsAreMetAfterAdmission) {
  HttpWorld world;
  auto client = world.connect();
  client.send(post("Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
  EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("{}");
  ASSERT_EQ(world.handler.requests.size(), 1U);
  answer(std::move(world.handler.responders[0]), "x");
  EXPECT_EQ(status_of(client.received()), 200);
  // No interim response to a client that did not wait, nor without a body.
  client.send(post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"));
  EXPECT_EQ(client.received(), "");
  answer(std::move(world.handler.responders[1]), "x");
  EXPECT_EQ(status_of(client.received()), 200);
  client.send(post("Expect: 100-continue\r\n", ""));
  EXPECT_EQ(client.received(), "");
}

TEST(HttpConnection, SizesAreCheckedAfterAdmission) {
  const auto check = [](const std::string& request, std::optional<std::size_t> admitted_max,
                        RefusalReason reason) {
    ServerOptions options;
    options.body_bytes_max = 1000;
    HttpWorld world(options);
    world.handler.on_admit = [&](const Request&) {
      Admission admission;
      admission.body_bytes_max = admitted_max;
      return admission;
    };
    auto client = world.connect();
    client.send(request);
    const std::string response = client.received();
    EXPECT_EQ(status_of(response), refusal_status(reason)) << request.substr(0, 100);
    EXPECT_EQ(world.refused(reason), 1U);
    EXPECT_EQ(world.handler.admitted, 1);
    EXPECT_EQ(world.handler.requests.size(), 0U);
    EXPECT_EQ(world.counters().body_memory_bytes, 0U);
  };
  const std::string bomb = testing::zstd(std::string(1 << 20, 'a'));
  check(post("Content-Length: 1001\r\n", ""), std::nullopt, RefusalReason::kBodySize);
  check(post("Content-Length: 11\r\n", ""), 10, RefusalReason::kBodySize);
  check(post("Transfer-Encoding: chunked\r\n", "3e9\r\n"), std::nullopt, RefusalReason::kBodySize);
  check(post("Content-Encoding: zstd\r\nContent-Length: " + std::to_string(bomb.size()) + "\r\n",
             bomb),
        std::nullopt, RefusalReason::kBodySize);
  check(post("Content-Encoding: br\r\nContent-Length: 1\r\n", "a"), std::nullopt,
        RefusalReason::kContentEncoding);
  check(post("Content-Encoding: gzip\r\nContent-Length: 4\r\n", "abcd"), std::nullopt,
        RefusalReason::kCompressedBody);
}

TEST(HttpConnection, MemoryOfAllBodiesIsBounded) {
  ServerOptions options;
  options.body_memory_bytes_max = 3 * 64 * 1024;
  HttpWorld world(options);
  auto first = world.connect();
  const std::string body(100'000, 'x');
  const std::string request = post("Content-Length: 100000\r\n", body);
  first.send(request);
  ASSERT_EQ(world.handler.requests.size(), 1U);
  auto second = world.connect();
  second.send(request);
  const std::string response = second.received();
  EXPECT_EQ(status_of(response), 503);
  EXPECT_NE(response.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  EXPECT_EQ(world.refused(RefusalReason::kBodyMemory), 1U);
}

TEST(HttpConnection, HostileRequestsAreRefusedAndClosed) {
  for (const auto& row : testing::hostile_requests()) {
    HttpWorld world;
    world.handler.on_handle = [](Responder responder) { answer(std::move(responder), "x"); };
    auto client = world.connect();
    client.send(row.bytes);
    const int status = status_of(client.received());
    if (row.answered) {
      EXPECT_EQ(status, 200) << row.name;
    } else {
      EXPECT_GE(status, 400) << row.name;
      EXPECT_LT(status, 500) << row.name;
      EXPECT_TRUE(client.wire().send_shut) << row.name;
      client.send(kGet);  // whatever follows is dropped
      client.close();
      EXPECT_EQ(client.received(), "") << row.name;
      EXPECT_TRUE(client.is_closed()) << row.name;
    }
    EXPECT_EQ(world.handler.requests.size(), row.answered ? 1U : 0U) << row.name;
  }
}

TEST(HttpConnection, TheHandlerWordsTheRefusals) {
  HttpWorld world;
  auto client = world.connect();
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.received().find("there is no Host field"), std::string::npos);
}

TEST(HttpConnection, HandlersThatFail) {
  const auto check = [](const std::function<void(testing::ScriptedHandler&)>& arrange) {
    HttpWorld world;
    arrange(world.handler);
    auto client = world.connect();
    client.send(kGet);
    EXPECT_EQ(status_of(client.received()), 500);
    EXPECT_EQ(world.refused(RefusalReason::kUnanswered), 1U);
    EXPECT_FALSE(client.is_closed());  // the framing is intact
    EXPECT_EQ(world.counters().requests_open, 0U);
  };
  check([](auto& handler) {
    handler.on_admit = [](const Request&) -> Admission { throw std::runtime_error("admit"); };
  });
  check([](auto& handler) {
    handler.on_handle = [](const Responder&) { throw std::runtime_error("handle"); };
  });
  check([](auto& handler) {
    handler.on_handle = [](const Responder&) {};  // dropped
  });
}

TEST(HttpConnection, TheHandlerHearsThatTheClientLeft) {
  for (const bool reset : {false, true}) {
    HttpWorld world;
    auto client = world.connect();
    client.send(kGet);
    ASSERT_EQ(world.handler.responders.size(), 1U);
    Responder& responder = world.handler.responders[0];
    EXPECT_FALSE(responder.cancelled().stop_requested());
    reset ? client.reset() : client.close();
    EXPECT_TRUE(responder.cancelled().stop_requested());
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(world.set.size(), 0U);
    EXPECT_EQ(world.counters().clients_gone, 1U);
    EXPECT_EQ(world.counters().requests_open, 0U);
    answer(std::move(responder), "too late");
    EXPECT_EQ(client.received(), "");
  }
}

TEST(HttpConnection, StreamsLeaveAtOnce) {
  HttpWorld world;
  auto client = world.connect();
  client.send(kGet);
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/event-stream", ""));
  EXPECT_NE(client.received().find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(responder.write("data: 1\n\n"), WriteStatus::kAccepted);
  EXPECT_EQ(client.received(), "9\r\ndata: 1\n\n\r\n");
  EXPECT_EQ(responder.write("a"), WriteStatus::kAccepted);
  EXPECT_EQ(responder.write("b"), WriteStatus::kAccepted);
  responder.finish();
  EXPECT_EQ(client.received(), "2\r\nab\r\n0\r\n\r\n");
  client.send(kGet);  // the connection lives on
  EXPECT_EQ(world.handler.requests.size(), 2U);
}

TEST(HttpConnection, StreamsToOldClientsEndWithTheConnection) {
  HttpWorld world;
  auto client = world.connect();
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/plain", ""));
  EXPECT_EQ(responder.write("abc"), WriteStatus::kAccepted);
  responder.finish();
  const std::string response = client.received();
  EXPECT_EQ(response.find("Transfer-Encoding"), std::string::npos);
  EXPECT_NE(response.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(body_of(response), "abc");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpConnection, StreamsToHeadHaveNoBody) {
  HttpWorld world;
  auto client = world.connect();
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/plain", ""));
  EXPECT_EQ(responder.write("abc"), WriteStatus::kAccepted);
  responder.finish();
  EXPECT_EQ(body_of(client.received()), "");
  EXPECT_FALSE(client.is_closed());
}

TEST(HttpConnection, ACutStreamHasNoEndMark) {
  HttpWorld world;
  auto client = world.connect();
  client.send(kGet);
  {
    Responder responder = std::move(world.handler.responders[0]);
    responder.start(make_response(200, "text/plain", ""));
    EXPECT_EQ(responder.write("abc"), WriteStatus::kAccepted);
  }
  EXPECT_EQ(body_of(client.received()), "3\r\nabc\r\n");
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(world.counters().responses_cut, 1U);
}

TEST(HttpConnection, StreamsWaitForSlowClients) {
  ServerOptions options;
  options.stream_queue_bytes_max = 10;
  HttpWorld world(options);
  auto client = world.connect();
  client.send(kGet);
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/plain", ""));
  client.received();
  client.take_bytes(0);
  EXPECT_EQ(responder.write("0123456789"), WriteStatus::kAccepted);
  world.loop.run();
  EXPECT_EQ(responder.write("x"), WriteStatus::kFull);
  int writable = 0;
  responder.on_writable([&] { ++writable; });
  world.loop.run();
  EXPECT_EQ(writable, 0);
  client.take_bytes(1000);
  EXPECT_EQ(client.received(), "a\r\n0123456789\r\n");
  EXPECT_EQ(writable, 1);
  EXPECT_EQ(responder.write("x"), WriteStatus::kAccepted);
}

TEST(HttpConnection, AStreamEndsWhenTheClientLeaves) {
  HttpWorld world;
  auto client = world.connect();
  client.send(kGet);
  Responder responder = std::move(world.handler.responders[0]);
  responder.start(make_response(200, "text/plain", ""));
  client.received();
  client.close();
  EXPECT_TRUE(responder.cancelled().stop_requested());
  EXPECT_EQ(responder.write("x"), WriteStatus::kGone);
  EXPECT_EQ(world.set.size(), 0U);
  EXPECT_EQ(world.counters().clients_gone, 1U);
  EXPECT_EQ(world.counters().responses_cut, 1U);
}

TEST(HttpConnection, LargeResponsesArriveWhole) {
  HttpWorld world;
  auto client = world.connect();
  client.wire().piece_bytes_max = 1000;
  client.send(kGet);
  const std::string body(300'000, 'x');
  answer(std::move(world.handler.responders[0]), body);
  EXPECT_EQ(body_of(client.received()), body);
}

TEST(HttpConnection, OverTheBoundGets503) {
  HttpWorld world;
  auto client = world.connect_refused();
  const std::string response = client.received();
  EXPECT_EQ(status_of(response), 503);
  EXPECT_NE(response.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(response.find("\r\nConnection: close\r\n"), std::string::npos);
  client.send(kGet);
  EXPECT_EQ(world.handler.admitted, 0);
  client.close();
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(world.state.refusing, 0U);
  EXPECT_EQ(world.refused(RefusalReason::kConnections), 1U);
}

}  // namespace
}  // namespace layard::http
