#include "gateway/measure_run.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "support/scripted_server.h"

namespace layard::gateway {
namespace {

using layard::testing::ScriptedServer;
using layard::testing::ServedConnection;

constexpr const char* kReply =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":9}}\n\n"
    "data: [DONE]\n\n";

// Answers with `reply` and keeps the heads of the requests.
class FakeDevice {
 public:
  explicit FakeDevice(std::string reply) : reply_(std::move(reply)) {}

  MeasureTarget target(const std::string& name) const {
    MeasureTarget out;
    out.device = {name, "http://127.0.0.1:" + std::to_string(server_.port()), "", 0};
    out.upstream = {false, "127.0.0.1", server_.port(), ""};
    return out;
  }
  std::vector<std::string> heads() {
    const std::scoped_lock lock(mutex_);
    return heads_;
  }

 private:
  void serve(ServedConnection& connection) {
    const std::string head = connection.receive_head();
    const std::scoped_lock lock(mutex_);
    heads_.push_back(head);
    connection.send(reply_);
  }

  std::string reply_;
  std::mutex mutex_;
  std::vector<std::string> heads_;
  std::function<void(ServedConnection&, std::size_t)> serve_ =
      [this](ServedConnection& connection, std::size_t) { serve(connection); };
  ScriptedServer server_{serve_};
};

MeasureSettings settings_for(std::vector<MeasureTarget> targets) {
  MeasureSettings out;
  out.targets = std::move(targets);
  MeasurePlanOptions options;
  options.prompt_lengths = {64};
  out.plan = *plan_measurement({{"code", "a secret text", "", ""}}, options);
  out.rounds = 2;
  out.drift_max = 1e9;  // a busy machine drifts
  out.request_ms = 10'000;
  return out;
}

TEST(MeasureRun, EveryDeviceAndPromptIsRecorded) {
  FakeDevice a(kReply);
  FakeDevice b(kReply);
  auto settings = settings_for({a.target("a"), b.target("b")});
  settings.targets[1].api_key = "sesame";
  std::vector<int> rounds;
  std::size_t calls = 0;
  const auto found = run_measurement(
      settings, [&](int, std::size_t, std::size_t) { ++calls; },
      [&](int round, double, bool kept) { rounds.push_back(kept ? round : -round); });
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(rounds, (std::vector<int>{1, 2}));
  // Of each device: a warm-up, three controls, a case, a length, three controls.
  EXPECT_EQ(calls, 2U * 2 * 9);
  EXPECT_EQ(found->requests.size(), 2U * 2 * 8);
  EXPECT_EQ(found->devices.size(), 2U);
  EXPECT_EQ(found->cases.size(), 1U);
  EXPECT_EQ(found->requests[15].position, 15);
  EXPECT_EQ(found->requests[15].output_tokens, 9);
  EXPECT_EQ(found->requests[16].round, 2);
  EXPECT_EQ(write_evidence(*found).find("secret"), std::string::npos);
  ASSERT_EQ(b.heads().size(), 18U);
  EXPECT_NE(b.heads()[0].find("POST /v1/chat/completions HTTP/1.1"), std::string::npos);
  EXPECT_NE(b.heads()[0].find("Authorization: Bearer sesame"), std::string::npos);
  EXPECT_EQ(a.heads()[0].find("Authorization"), std::string::npos);
}

TEST(MeasureRun, RoundsThatDriftAreDiscarded) {
  FakeDevice a(kReply);
  auto settings = settings_for({a.target("a")});
  settings.drift_max = -1;
  const auto found = run_measurement(settings, {}, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->discarded.size(), 4U);  // twice as many as asked
  EXPECT_EQ(found->discarded[0].device, "a");
  EXPECT_TRUE(found->is_discarded(4));
}

TEST(MeasureRun, ADeviceThatFailsIsNamed) {
  const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
  struct Case {
    std::string reply;
    const char* said;
  };
  const Case cases[] = {
      {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "status 503"},
      {"HTTP/1.1 302 Away\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "status 302"},
      {"", "connection_lost"},
      {head + "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", "broke"},
      {head + "data: [DONE]\n\n", "no token"},
  };
  for (const auto& [reply, said] : cases) {
    FakeDevice good(kReply);
    FakeDevice bad(reply);
    const auto found =
        run_measurement(settings_for({good.target("good"), bad.target("bad")}), {}, {});
    ASSERT_FALSE(found.ok()) << said;
    EXPECT_EQ(found.error().code, ErrorCode::kBackendUnavailable);
    EXPECT_NE(found.error().message.find("'bad'"), std::string::npos) << found.error().message;
    EXPECT_NE(found.error().message.find(said), std::string::npos) << found.error().message;
    EXPECT_EQ(found.error().message.find("sesame"), std::string::npos);
  }
}

TEST(MeasureRun, TooMuchIsRefusedBeforeItBegins) {
  auto settings = settings_for({});
  settings.rounds = 501;
  EXPECT_FALSE(run_measurement(settings, {}, {}).ok());
  settings.rounds = 0;
  EXPECT_FALSE(run_measurement(settings, {}, {}).ok());
}

}  // namespace
}  // namespace layard::gateway
