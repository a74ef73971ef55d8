#include "gateway/forward_call.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::at;
using testing::chat_body;
using testing::comes_true;
using testing::Door;
using testing::FakeClasses;
using testing::FakeDevice;
using testing::field_of;
using testing::GatewayWorld;
using testing::PolicyText;
using testing::post;
using testing::SeenRequest;
using testing::ServedConnection;
using testing::TcpClient;
using testing::unchunked;

using Clock = std::chrono::steady_clock;

int status_of(const std::string& response) {
  return response.size() < 12 ? 0 : std::atoi(response.c_str() + 9);
}

// A device whose every request stays until its client leaves.
void stall(FakeDevice& device, ServedConnection& connection, const std::string& first = "") {
  connection.send(first);
  device.wait_for_end(connection);
  connection.close();
}

TEST(ForwardCall, GoesWhereItsClassGoesWithTheDevicesNameOfTheModel) {
  FakeClasses classes("code");
  FakeDevice cpu;
  FakeDevice gpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)},
                                  {"gpu", at(gpu, R"("model":"qwen","api_key_env":"DEVICE_KEY")")}},
                                 R"("model_names":["*"],)"},
                      .classes = &classes});
  const std::string response = world.chat("fix it", "Authorization: Bearer client-secret\r\n");
  EXPECT_EQ(status_of(response), 200);
  EXPECT_EQ(field_of(response, "X-1bit-Route"), "code 0.75 gpu");
  EXPECT_EQ(field_of(response, "X-Layard-Decision"), "model");
  EXPECT_FALSE(field_of(response, "X-Layard-Request-Id").empty());
  EXPECT_TRUE(response.ends_with(R"({"model":"m","choices":[]})")) << response;
  ASSERT_EQ(gpu.seen(), 1U);
  std::string expected = chat_body("fix it");
  expected.replace(expected.find("\"m\""), 3, "\"qwen\"");
  EXPECT_EQ(gpu.request(0).body, expected);
  EXPECT_NE(gpu.request(0).head.find("Bearer device-secret"), std::string::npos);
  EXPECT_EQ(gpu.request(0).head.find("client-secret"), std::string::npos);
  EXPECT_EQ(field_of(world.chat("fix it"), "X-Layard-Decision"), "sticky");
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, LargeBodiesAreReadBesideTheLoopAndSentInPieces) {
  FakeDevice cpu;
  GatewayWorld world(
      {.policy = {{{"cpu", at(cpu, R"("model":"qwen")")}}, R"("model_names":["*"],)"}});
  for (const std::size_t size : {200'000U, 1'000'000U}) {
    const std::string text(size, 'a');
    EXPECT_EQ(status_of(world.chat(text)), 200);
    const std::string body = cpu.request(cpu.seen() - 1).body;
    EXPECT_EQ(body.size(), chat_body(text).size() + 3);
    EXPECT_EQ(body.find(R"({"model":"qwen",)"), 0U);
  }
  EXPECT_EQ(status_of(world.ask(post("{" + std::string(200'000, ' ')))), 400);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, OtherDevicesAreTriedBeforeTheFirstByte) {
  const auto check = [](const FakeDevice::Serve& serve, const std::string& more, int status,
                        bool is_tried) {
    FakeDevice bad(serve);
    FakeDevice good;
    GatewayWorld world({.policy = {{{"bad", at(bad)}, {"good", at(good)}}, more}});
    const std::string response = world.chat("x");
    EXPECT_EQ(status_of(response), status) << response;
    EXPECT_EQ(good.seen(), is_tried ? 1U : 0U) << response;
    EXPECT_EQ(field_of(response, "X-1bit-Route"), is_tried ? "- 0.00 good" : "- 0.00 bad");
    EXPECT_TRUE(world.becomes_idle()) << world.busy();
    EXPECT_EQ(world.stats().retries, is_tried ? 1U : 0U);
  };
  const auto hang_up = [](ServedConnection& connection, const SeenRequest&) { connection.close(); };
  const auto sends = [](const std::string& bytes) {
    return [bytes](ServedConnection& connection, const SeenRequest&) {
      connection.send(bytes);
      connection.close();
    };
  };
  const std::string off = R"("alternates_on_error":false,)";
  check(hang_up, "", 200, true);
  check(hang_up, off, 502, false);
  check(FakeDevice::reply_json("{}", 503), "", 200, true);
  check(FakeDevice::reply_json("{}", 503, "Retry-After: 7\r\n"), "", 200, true);
  check(FakeDevice::reply_json("{}", 429), "", 200, true);
  check(FakeDevice::reply_json("{}", 502), "", 200, true);
  check(FakeDevice::reply_json("{}", 504), "", 200, true);
  check(FakeDevice::reply_json("{}", 503), off, 503, false);
  // Answers, if no good ones.
  check(FakeDevice::reply_json("{}", 500), "", 500, false);
  check(FakeDevice::reply_json("{}", 400), "", 400, false);
  check(FakeDevice::reply_json("{}", 404), "", 404, false);
  check(FakeDevice::reply_json("", 302, "Location: http://127.0.0.1:1/\r\n"), "", 200, true);
  check(FakeDevice::reply_json("", 302, "Location: http://127.0.0.1:1/\r\n"), off, 502, false);
  check(sends("nonsense\r\n\r\n"), "", 200, true);
  check(sends("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "", 200, true);
  check(sends("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n"),
        "", 200, true);
}

TEST(ForwardCall, NoneAfterTheFirstByte) {
  FakeDevice bad([](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: {}\n\n"));
    connection.reset();
  });
  FakeDevice good;
  GatewayWorld world({.policy = {{{"bad", at(bad)}, {"good", at(good)}}}});
  const std::string response = world.stream("x");
  EXPECT_EQ(status_of(response), 200);
  const std::string events = unchunked(response);
  EXPECT_EQ(events.find("data: {}\n\ndata: {\"error\":{"), 0U) << response;
  EXPECT_EQ(events.find("[DONE]"), std::string::npos);
  EXPECT_EQ(good.seen(), 0U);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
  EXPECT_EQ(world.stats().devices["bad"].cut, 1U);
  EXPECT_NE(world.log().find("reply_cut"), std::string::npos);
}

TEST(ForwardCall, AWholeReplyThatBreaksOffIsCut) {
  FakeDevice bad([](ServedConnection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    connection.send(std::string(200'000, 'a'));
    connection.reset();
  });
  GatewayWorld world({.policy = {{{"bad", at(bad)}}}});
  TcpClient client = world.connect();
  client.send(post(chat_body("x")));
  const std::string response = client.receive_all();  // the connection is closed
  EXPECT_EQ(status_of(response), 200);
  EXPECT_FALSE(response.ends_with("0\r\n\r\n"));
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

// Comments are no reply: whoever is silent or fails then is no last word.
TEST(ForwardCall, CommentsDoNotEndTheSearch) {
  for (const bool answers : {false, true}) {
    Door door;
    FakeDevice bad([&](ServedConnection& connection, const SeenRequest&) {
      door.pass();
      if (answers) connection.send(FakeDevice::response("{}", 503));
      connection.close();
    });
    FakeDevice good([](ServedConnection& connection, const SeenRequest&) {
      connection.send(FakeDevice::kStreamHead + FakeDevice::chunk("data: [DONE]\n\n") +
                      FakeDevice::kLastChunk);
    });
    GatewayWorld world({.policy = {{{"bad", at(bad)}, {"good", at(good)}}},
                        .options = [](GatewayOptions& o) { o.keepalive_ms = 50; }});
    TcpClient client = world.connect();
    client.send(post(chat_body("x", true), "Connection: close\r\n"));
    const std::string begin = client.receive_until(": keep-alive\n\n");
    door.open();
    const std::string events = unchunked(begin + client.receive_all());
    EXPECT_TRUE(events.ends_with(": keep-alive\n\ndata: [DONE]\n\n")) << events;
    EXPECT_TRUE(world.becomes_idle()) << world.busy();
  }
}

TEST(ForwardCall, WhatTheLastDeviceSaysIsPassedOn) {
  FakeDevice one(FakeDevice::reply_json(R"({"error":"one"})", 429, "Retry-After: 3\r\n"));
  FakeDevice two(FakeDevice::reply_json(R"({"error":"two"})", 503, "Retry-After: 7\r\n"));
  GatewayWorld world({.policy = {{{"one", at(one)}, {"two", at(two)}}}});
  const std::string response = world.chat("x");
  EXPECT_EQ(status_of(response), 503);
  EXPECT_EQ(field_of(response, "Retry-After"), "7");
  EXPECT_TRUE(response.ends_with(R"({"error":"two"})"));
  // Both asked to wait.
  const std::string later = world.chat("x");
  EXPECT_EQ(status_of(later), 503);
  EXPECT_FALSE(field_of(later, "Retry-After").empty());
  EXPECT_EQ(one.seen() + two.seen(), 2U);
}

TEST(ForwardCall, ADeviceThatIsNotThere) {
  unsigned port = 0;
  {
    const testing::ScriptedServer gone([](ServedConnection&, std::size_t) {});
    port = gone.port();
  }
  GatewayWorld world(
      {.policy = {{{"cpu", "\"url\":\"http://127.0.0.1:" + std::to_string(port) + "\""}}}});
  const std::string response = world.chat("x");
  EXPECT_EQ(status_of(response), 502);
  EXPECT_NE(response.find("gave no reply"), std::string::npos);
  EXPECT_EQ(response.find(std::to_string(port)), std::string::npos);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, ADeviceThatSaysNothingInTime) {
  FakeDevice slow(
      [&](ServedConnection& connection, const SeenRequest&) { stall(slow, connection); });
  GatewayWorld world({.policy = {{{"slow", at(slow, R"("first_byte_ms":100)")}}}});
  EXPECT_EQ(status_of(world.chat("x")), 504);
  EXPECT_TRUE(comes_true([&] { return slow.ends() == 1; }));
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

struct Leave {
  const char* where;
  std::string first;  // of the device
  bool stream;
  bool classifies;
  bool queues;
};

TEST(ForwardCall, AClientThatLeavesFreesEverythingAtOnce) {
  const auto check = [](const Leave& leave) {
    FakeClasses classes;
    FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
      stall(cpu, connection, leave.first);
    });
    GatewayWorld world({.policy = {{{"cpu", at(cpu, R"("requests_max":1,"queue_max":4)")}}},
                        .options = [](GatewayOptions& o) { o.limits.requests_max = 10; },
                        .classes = leave.classifies ? &classes : nullptr});
    TcpClient first = world.connect();
    if (leave.queues) {
      first.send(post(chat_body("first")));
      EXPECT_TRUE(comes_true([&] { return cpu.seen() == 1; }));
    }
    TcpClient client = world.connect();
    client.send(post(chat_body("x", leave.stream)));
    if (leave.classifies) {
      EXPECT_TRUE(comes_true([&] { return classes.asked() == 1; }));
    } else if (leave.queues) {
      EXPECT_TRUE(comes_true([&] { return world.device(0).waiting == 1; }));
    } else if (leave.stream) {
      client.receive_until("data: {}");
    } else {
      EXPECT_TRUE(comes_true([&] { return cpu.seen() == 1; }));
    }
    const auto left = Clock::now();
    client.close();
    if (leave.classifies) {
      EXPECT_TRUE(comes_true([&] { return classes.cancelled() == 1; }));
      EXPECT_EQ(cpu.seen(), 0U);
    } else if (leave.queues) {
      EXPECT_TRUE(comes_true([&] { return world.device(0).waiting == 0; }));
      EXPECT_EQ(cpu.ends(), 0U);
    } else {
      EXPECT_TRUE(comes_true([&] { return cpu.ends() == 1; }));
    }
    EXPECT_LT(Clock::now() - left, std::chrono::milliseconds(100)) << leave.where;
    first.close();
    EXPECT_TRUE(world.becomes_idle()) << leave.where << world.busy();
    EXPECT_EQ(world.stats().clients_gone, leave.queues ? 2U : 1U) << leave.where;
    EXPECT_EQ(world.stats().devices["cpu"].failures, 0U) << leave.where;
    EXPECT_EQ(world.device(0).failures_in_a_row, 0) << leave.where;
  };
  check({"before the head", "", false, false, false});
  check({"within the head", "HTTP/1.1 200 OK\r\nContent-", false, false, false});
  check({"within a stream", FakeDevice::kStreamHead + FakeDevice::chunk("data: {}\n\n"), true,
         false, false});
  check({"within a whole reply", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", false, false,
         false});
  check({"while it is classified", "", false, true, false});
  check({"while it waits for a device", "", false, false, true});
}

TEST(ForwardCall, AClientThatLeavesAFullQueueOfItsOwnFreesTheDevice) {
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
    connection.send(FakeDevice::kStreamHead);
    while (connection.send(FakeDevice::chunk("data: " + std::string(10'000, 'a') + "\n\n"))) {
    }
    stall(cpu, connection);
  });
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}});
  TcpClient client = world.connect();
  client.set_receive_buffer(4096);
  client.send(post(chat_body("x", true)));
  client.receive_until("data: ");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // all buffers are full now
  client.reset();
  EXPECT_TRUE(comes_true([&] { return cpu.ends() == 1; }));
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, ADeviceServesOneAfterTheOther) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
    most = std::max<int>(most, ++running);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --running;
    connection.send(FakeDevice::response("{}"));
  });
  GatewayWorld world({.policy = {{{"cpu", at(cpu, R"("requests_max":1,"queue_max":10)")}}}});
  std::vector<TcpClient> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(world.connect());
    clients.back().send(post(chat_body("x")));
  }
  for (TcpClient& client : clients) EXPECT_EQ(status_of(client.receive_response()), 200);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(cpu.seen(), 6U);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, AFullQueueSaysWhenToComeAgain) {
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) { stall(cpu, connection); });
  GatewayWorld world({.policy = {{{"cpu", at(cpu, R"("requests_max":1,"queue_max":1)")}}},
                      .options = [](GatewayOptions& o) { o.queue_ms = 300; },
                      .probes = true});
  TcpClient runs = world.connect();
  runs.send(post(chat_body("x")));
  EXPECT_TRUE(comes_true([&] { return cpu.seen() == 1; }));
  TcpClient waits = world.connect();
  waits.send(post(chat_body("x")));
  EXPECT_TRUE(comes_true([&] { return world.device(0).waiting == 1; }));
  const std::string refused = world.chat("x");
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_GE(std::atoi(field_of(refused, "Retry-After").c_str()), 1);
  EXPECT_NE(refused.find("devices_busy"), std::string::npos);
  const std::string late = waits.receive_response();  // queue_ms passed
  EXPECT_EQ(status_of(late), 503);
  EXPECT_NE(late.find("devices_busy"), std::string::npos);
  runs.close();
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, AReloadTakesThoseWhoWaitAlong) {
  Door door;
  FakeDevice cpu([&](ServedConnection& connection, const SeenRequest&) {
    door.pass();
    connection.send(FakeDevice::response("{}"));
  });
  FakeDevice gpu;
  const PolicyText before{{{"cpu", at(cpu, R"("requests_max":1,"queue_max":4)")}}};
  GatewayWorld world({.policy = before});
  TcpClient runs = world.connect();
  runs.send(post(chat_body("x")));
  EXPECT_TRUE(comes_true([&] { return cpu.seen() == 1; }));
  TcpClient waits = world.connect();
  waits.send(post(chat_body("x")));
  EXPECT_TRUE(comes_true([&] { return world.device(0).waiting == 1; }));
  world.put_policy({{{"gpu", at(gpu)}, {"cpu", at(cpu)}}});
  const std::string moved = waits.receive_response();
  EXPECT_EQ(status_of(moved), 200);
  EXPECT_EQ(field_of(moved, "X-1bit-Route"), "- 0.00 gpu");
  door.open();
  const std::string stayed = runs.receive_response();
  EXPECT_EQ(field_of(stayed, "X-1bit-Route"), "- 0.00 cpu");
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, NamedDevicesAndModels) {
  FakeClasses classes("code");
  FakeDevice cpu;
  FakeDevice gpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu, R"("model":"small")")},
                                  {"gpu", at(gpu, R"("model":"large","capabilities":["tools"])")}}},
                      .classes = &classes});
  const auto check = [&](const std::string& body, const std::string& fields, int status,
                         const std::string& part) {
    const std::string response = world.ask(post(body, fields));
    EXPECT_EQ(status_of(response), status) << response;
    EXPECT_NE(response.find(part), std::string::npos) << response;
  };
  const std::string messages = R"("messages":[{"role":"user","content":"x"}]})";
  const std::string image = R"("messages":[{"role":"user","content":[{"type":"image_url",)"
                            R"("image_url":{"url":"data:x"}}]}]})";
  check(R"({"model":"auto",)" + messages, "", 200, "code 0.75 gpu");
  check(R"({"model":"auto",)" + messages, "X-Layard-Device: cpu\r\n", 200, "- 0.00 cpu");
  check(R"({"model":"auto",)" + messages, "X-Layard-Device: cpu\r\n", 200,
        "X-Layard-Decision: override");
  check(R"({"model":"auto",)" + messages, "X-Layard-Device: npu\r\n", 400, "there are cpu, gpu");
  check(R"({"model":"small",)" + messages, "", 200, " cpu\r\n");
  check(R"({"model":"cpu",)" + messages, "", 200, "- 0.00 cpu");
  check(R"({"model":"other",)" + messages, "", 404, "model_not_found");
  check(R"({"model":"large",)" + image, "", 400, "cpu serves another model; gpu lacks images");
  check(R"({"model":1,)" + std::string(R"("messages":7})"), "", 400, "messages");
  check("{", "", 400, "invalid_request_error");
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

TEST(ForwardCall, AnExceptionEndsTheRequestAndNoMore) {
  FakeClasses classes;
  FakeDevice cpu;
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}}}, .classes = &classes});
  classes.throw_from_now_on();
  EXPECT_EQ(status_of(world.chat("x")), 500);
  EXPECT_NE(world.log().find("request_failed"), std::string::npos);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
  EXPECT_EQ(status_of(world.ask(post(chat_body("x"), "X-Layard-Device: cpu\r\n"))), 200);
}

TEST(ForwardCall, ShadowAsksAfterTheReplyAndHoldsNothing) {
  FakeClasses classes;
  FakeDevice cpu;
  FakeDevice gpu;
  const testing::TempDir folder;
  auto decisions = DecisionLog::open(base::real_filesystem(), (folder / "log.jsonl").string(),
                                     [](const Error&) {});
  ASSERT_TRUE(decisions.ok());
  {
    GatewayWorld world(
        {.policy = {{{"cpu", at(cpu)}, {"gpu", at(gpu)}}, R"("decide":{"when":"shadow"},)"},
         .options = [](GatewayOptions& o) { o.limits.requests_max = 1; },
         .classes = &classes,
         .decisions = decisions->get()});
    EXPECT_EQ(field_of(world.chat("x"), "X-1bit-Route"), "- 0.00 cpu");
    EXPECT_TRUE(comes_true([&] { return classes.asked() == 1; }));
    EXPECT_TRUE(world.becomes_idle()) << world.busy();
    EXPECT_EQ(status_of(world.chat("x")), 200);  // the question is no request of the caller
    EXPECT_TRUE(classes.answer("code"));
    EXPECT_EQ(gpu.seen(), 0U);
    // The last question is never answered: the end does not wait for it.
    EXPECT_EQ(status_of(world.chat("other")), 200);
    EXPECT_TRUE(comes_true([&] { return classes.asked() == 2; }));
  }
  decisions->reset();
  const std::string lines = testing::read_file(folder / "log.jsonl");
  EXPECT_NE(lines.find(R"("class":"code")"), std::string::npos) << lines;
}

TEST(ForwardCall, APassThroughRouteGoesAsItIs) {
  FakeDevice cpu;
  FakeDevice gpu(FakeDevice::reply_json(R"({"model":"dev"})"));
  GatewayWorld world(
      {.policy = {{{"cpu", at(cpu)}, {"gpu", at(gpu, R"("routes":["POST /v1/rerank"])")}}}});
  const std::string response = world.ask(post("no json", "", "/v1/rerank?x=1"));
  EXPECT_EQ(status_of(response), 200);
  EXPECT_TRUE(response.ends_with(R"({"model":"dev"})"));
  EXPECT_EQ(field_of(response, "X-1bit-Route"), "- 0.00 gpu");
  EXPECT_EQ(gpu.request(0).body, "no json");
  EXPECT_EQ(gpu.request(0).head.find("POST /v1/rerank?x=1 HTTP/1.1\r\n"), 0U);
  EXPECT_EQ(status_of(world.ask(post("{}", "", "/v1/other"))), 404);
}

// The place that the route had in the old policy is none in the new one.
TEST(ForwardCall, APassThroughRouteIsLookedForAnewAfterAReload) {
  FakeDevice cpu;
  FakeDevice gpu;
  const std::string route = R"("routes":["POST /v1/rerank"])";
  GatewayWorld world({.policy = {{{"cpu", at(cpu)}, {"gpu", at(gpu, route)}}}});
  const auto check = [&](const PolicyText& policy, int status) {
    TcpClient client = world.connect();
    const auto before = world.server().counters().requests;
    client.send("POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{");
    EXPECT_TRUE(comes_true([&] { return world.server().counters().requests > before; }));
    world.put_policy(policy);
    client.send("}");
    EXPECT_EQ(status_of(client.receive_response()), status);
  };
  check({{{"gpu", at(gpu, route)}}}, 200);
  EXPECT_EQ(gpu.seen(), 1U);
  check({{{"cpu", at(cpu)}}}, 404);
  EXPECT_EQ(cpu.seen(), 0U);
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
}

}  // namespace
}  // namespace layard::gateway
