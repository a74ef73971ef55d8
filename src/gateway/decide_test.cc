#include "gateway/decide.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "support/fake_dialer.h"
#include "support/fake_loop.h"
#include "support/gateway_world.h"

namespace layard::gateway {
namespace {

using testing::chat_body;
using testing::comes_true;
using testing::FakeClasses;
using testing::FakeDevice;
using testing::FakeLoop;
using testing::field_of;
using testing::GatewayWorld;
using testing::PolicyText;
using testing::post;
using testing::TcpClient;

PolicyText two_devices(const std::string& more = "") {
  return {{{"cpu", R"("url":"http://127.0.0.1:9")"}, {"gpu", R"("url":"http://127.0.0.1:10")"}},
          more};
}

GatewaySetupPtr setup_of(const PolicyText& policy, const std::string& device = "auto") {
  const testing::TempDir folder;
  testing::write_file(folder / "policy.json", policy.text());
  const base::FixedEnv env{std::map<std::string, std::string, std::less<>>()};
  auto setup =
      make_setup({(folder / "policy.json").string(), {}, device, &env, &base::real_filesystem()});
  if (!setup.ok()) throw std::runtime_error(setup.error().message);
  return *std::move(setup);
}

// One request that is decided, with what must outlive that.
struct Asked {
  ChatRequest chat;
  http::Fields fields;
  std::string caller;
  GatewaySetupPtr setup;
  std::vector<std::size_t> candidates;
  std::stop_source client;
  std::optional<Decided> got;

  DecisionSource source() const { return got.value().decision.source; }
  std::string name() const { return got.value().decision.class_name; }
};

struct DecideWorld {
  explicit DecideWorld(const PolicyText& policy, ClassSource* classes_ = nullptr,
                       const std::string& device = "auto")
      : setup(setup_of(policy, device)), core(options, setup, classes_, nullptr, log) {}

  // What still waits leaves.
  ~DecideWorld() {
    for (Asked& one : requests) one.client.request_stop();
    loop.run();
  }

  Asked& decide(const std::string& text, const std::string& caller = "") {
    Asked& one = requests.emplace_back();
    ReadOptions read;
    one.chat = *read_chat_request(Api::kChatCompletions, chat_body(text), read);
    one.caller = caller;
    one.setup = setup;
    for (std::size_t i = 0; i < setup->policy.servers.size(); ++i) one.candidates.push_back(i);
    testing::run_into(
        gateway::decide(loop, core, {one.setup, one.chat, one.fields, one.caller, one.candidates},
                        one.client.get_token()),
        one.got);
    loop.run();
    return one;
  }

  const GatewayOptions options;
  const base::EventLog log{base::LogFormat::kText, base::LogLevel::kError, nullptr};
  GatewaySetupPtr setup;
  FakeLoop loop;
  GatewayCore core;
  std::deque<Asked> requests;
};

TEST(Decide, AConversationIsDecidedOnce) {
  FakeClasses classes("code");
  DecideWorld world(two_devices(), &classes);
  const auto check = [&](const std::string& text, const std::string& caller, DecisionSource source,
                         std::size_t asked) {
    const Asked& one = world.decide(text, caller);
    ASSERT_TRUE(one.got.has_value());
    EXPECT_EQ(decision_source_name(one.source()), decision_source_name(source));
    EXPECT_EQ(one.name(), "code");
    EXPECT_EQ(one.got->decision.confidence, 0.75);
    EXPECT_TRUE(one.got->conversation.has_value());
    EXPECT_EQ(one.got->is_new, source == DecisionSource::kModel);
    EXPECT_EQ(classes.asked(), asked);
  };
  check("fix it", "", DecisionSource::kModel, 1);
  check("fix it", "", DecisionSource::kSticky, 1);
  check("another", "", DecisionSource::kModel, 2);
  check("fix it", "bob", DecisionSource::kModel, 3);  // callers do not share conversations
  EXPECT_EQ(classes.query(0).text, "fix it");
  EXPECT_EQ(classes.query(2).caller, "bob");
  EXPECT_EQ(world.core.sticky.size(), 3U);
}

TEST(Decide, RequestsThatComeTogetherAreOneQuestion) {
  FakeClasses classes;
  DecideWorld world(two_devices(), &classes);
  const Asked& first = world.decide("fix it");
  const Asked& second = world.decide("fix it");
  EXPECT_FALSE(first.got.has_value());
  EXPECT_FALSE(second.got.has_value());
  EXPECT_EQ(classes.asked(), 1U);
  EXPECT_TRUE(classes.answer("code"));
  world.loop.run();
  EXPECT_EQ(first.source(), DecisionSource::kModel);
  EXPECT_EQ(second.source(), DecisionSource::kSticky);
  EXPECT_EQ(second.name(), "code");
  EXPECT_FALSE(second.got->is_new);
}

TEST(Decide, WhoWaitsAlongDecidesWhenTheFirstLeaves) {
  FakeClasses classes;
  DecideWorld world(two_devices(), &classes);
  Asked& first = world.decide("fix it");
  const Asked& second = world.decide("fix it");
  first.client.request_stop();
  world.loop.run();
  EXPECT_EQ(first.source(), DecisionSource::kDefault);
  EXPECT_EQ(classes.cancelled(), 1U);
  EXPECT_EQ(classes.asked(), 2U);
  EXPECT_FALSE(second.got.has_value());
  EXPECT_TRUE(classes.answer("prose"));  // of the first: nobody waits for it
  world.loop.run();
  EXPECT_FALSE(second.got.has_value());
  EXPECT_TRUE(classes.answer("code"));
  world.loop.run();
  EXPECT_EQ(second.name(), "code");
  EXPECT_EQ(world.core.stats.snapshot().decision_failures, 0U);
}

TEST(Decide, AWaiterThatLeavesIsForgotten) {
  FakeClasses classes;
  DecideWorld world(two_devices(), &classes);
  const Asked& first = world.decide("fix it");
  Asked& second = world.decide("fix it");
  second.client.request_stop();
  world.loop.run();
  EXPECT_EQ(second.source(), DecisionSource::kDefault);
  EXPECT_EQ(classes.asked(), 1U);
  EXPECT_TRUE(classes.answer("code"));
  world.loop.run();
  EXPECT_EQ(first.name(), "code");
}

TEST(Decide, TheSizeDecidesWithoutAQuestion) {
  FakeClasses classes("code");
  PolicyText policy = two_devices();
  policy.gate = true;
  DecideWorld world(policy, &classes);
  const Asked& first = world.decide(std::string(1000, 'a'));
  EXPECT_EQ(first.source(), DecisionSource::kGate);
  EXPECT_EQ(first.name(), "long_doc");
  EXPECT_EQ(world.decide(std::string(1000, 'a')).source(), DecisionSource::kSticky);
  EXPECT_EQ(classes.asked(), 0U);
  EXPECT_EQ(world.decide(std::string(999, 'a')).source(), DecisionSource::kModel);
}

TEST(Decide, UsefulAsksOnlyWhereTheAnswerMatters) {
  const auto check = [](PolicyText policy, std::vector<std::string> names, DecisionSource source) {
    FakeClasses classes("prose");
    policy.classes = std::move(names);
    DecideWorld world(policy, &classes);
    const Asked& one = world.decide("fix it");
    EXPECT_EQ(decision_source_name(one.source()), decision_source_name(source));
    EXPECT_EQ(classes.asked(), source == DecisionSource::kModel ? 1U : 0U);
    EXPECT_EQ(one.got->is_new, source == DecisionSource::kModel);
  };
  const std::string useful = R"("decide":{"when":"useful"},)";
  const PolicyText one_device{{{"cpu", R"("url":"http://127.0.0.1:9")"}}, useful};
  check(two_devices(useful), {"code", "prose"}, DecisionSource::kModel);
  check(two_devices(useful), {"prose", "short"}, DecisionSource::kSkipped);
  check(one_device, {"code", "prose"}, DecisionSource::kSkipped);
  check(two_devices(), {"prose", "short"}, DecisionSource::kModel);
}

TEST(Decide, NobodyIsAskedWhereNothingIsToBeDecided) {
  const auto check = [](const std::string& more, const std::string& device, bool laya,
                        const std::string& text) {
    FakeClasses classes("code");
    DecideWorld world(two_devices(more), laya ? &classes : nullptr, device);
    const Asked& one = world.decide(text);
    EXPECT_EQ(one.source(), DecisionSource::kDefault);
    EXPECT_FALSE(one.got->is_new);
    EXPECT_EQ(classes.asked(), 0U);
  };
  check("", "auto", false, "fix it");
  check("", "gpu", true, "fix it");
  check("", "auto", true, "");
  check(R"("decide":{"when":"shadow"},)", "auto", true, "fix it");
}

TEST(Decide, AFailureIsNoDecision) {
  const auto check = [](const std::function<void(FakeClasses&, FakeLoop&)>& act,
                        const std::string& error) {
    FakeClasses classes;
    DecideWorld world(two_devices(R"("decide":{"timeout_ms":1000},)"), &classes);
    const Asked& one = world.decide("fix it");
    EXPECT_LE(classes.query(0).deadline_ms.value(), 1000);
    act(classes, world.loop);
    world.loop.run();
    ASSERT_TRUE(one.got.has_value());
    EXPECT_EQ(one.source(), DecisionSource::kError);
    EXPECT_EQ(one.got->error, error);
    EXPECT_EQ(one.name(), "");
    EXPECT_EQ(world.core.stats.snapshot().decision_failures, 1U);
    // It is not kept: the next turn asks again.
    world.decide("fix it");
    EXPECT_EQ(classes.asked(), 2U);
    classes.answer("code");
    world.loop.run();
  };
  check([](FakeClasses&, FakeLoop& loop) { loop.advance_ms(1000); }, "no answer within 1000 ms");
  check(
      [](FakeClasses& classes, FakeLoop&) {
        classes.answer(Error{ErrorCode::kOverloaded, "the queue is full"});
      },
      "the queue is full");
  check([](FakeClasses& classes, FakeLoop&) { classes.drop(); }, "no answer within 1000 ms");
}

TEST(Decide, AClassThatAReloadRemovedIsAskedForAnew) {
  FakeClasses classes;
  PolicyText policy = two_devices();
  policy.classes = {"code", "odd"};
  DecideWorld world(policy, &classes);
  const Asked& old = world.decide("fix it");
  world.setup = setup_of(two_devices());
  const Asked& waits = world.decide("fix it");
  EXPECT_EQ(classes.asked(), 1U);
  classes.answer("odd");
  world.loop.run();
  EXPECT_EQ(old.name(), "odd");
  EXPECT_EQ(classes.asked(), 2U);  // what it waited for is no class of its policy
  classes.answer("code");
  world.loop.run();
  EXPECT_EQ(waits.name(), "code");
  const Asked& later = world.decide("fix it");
  EXPECT_EQ(classes.asked(), 3U);
  classes.answer("code");
  world.loop.run();
  EXPECT_EQ(later.source(), DecisionSource::kModel);
  EXPECT_EQ(world.decide("fix it").source(), DecisionSource::kSticky);  // and kept
  EXPECT_EQ(classes.asked(), 3U);
}

TEST(Decide, AnAnswerAfterThePolicyIsGoneReadsNothingOfIt) {
  FakeClasses classes;
  DecideWorld world(two_devices(), &classes);
  Asked& one = world.decide("fix it");
  one.client.request_stop();
  world.loop.run();
  ASSERT_TRUE(one.got.has_value());
  world.core.replace_setup(setup_of(two_devices()));
  one.setup.reset();
  world.setup.reset();
  EXPECT_TRUE(classes.answer("code"));
}

TEST(Decide, ShadowAsksForTheLogAndEndsWithItsLoop) {
  FakeClasses classes;
  DecideWorld world(two_devices(R"("decide":{"when":"shadow"},)"), &classes);
  const auto check = [&](bool is_answered, DecisionSource source) {
    Asked& one = world.decide("fix it " + std::to_string(is_answered));
    one.got.reset();
    testing::run_into(
        decide_in_shadow(world.loop, world.core,
                         {one.setup, one.chat, one.fields, one.caller, one.candidates},
                         one.client.get_token()),
        one.got);
    world.loop.run();
    EXPECT_FALSE(one.got.has_value());
    if (is_answered) classes.answer("code");
    one.client.request_stop();
    world.loop.run();
    EXPECT_EQ(one.source(), source);
  };
  check(true, DecisionSource::kModel);
  check(false, DecisionSource::kDefault);
}

TEST(Decide, TheLimitIsOfTheWholeWait) {
  FakeClasses classes;
  FakeDevice cpu;
  FakeDevice gpu;
  GatewayWorld world(
      {.policy = {{{"cpu", at(cpu)}, {"gpu", at(gpu)}}, R"("decide":{"timeout_ms":300},)"},
       .classes = &classes});
  const auto begun = std::chrono::steady_clock::now();
  TcpClient first = world.connect();
  TcpClient second = world.connect();
  first.send(post(chat_body("fix it")));
  second.send(post(chat_body("fix it")));
  for (TcpClient* client : {&first, &second}) {
    const std::string response = client->receive_response();
    EXPECT_EQ(field_of(response, "X-Layard-Decision"), "error");
    EXPECT_EQ(field_of(response, "X-1bit-Route"), "- 0.00 cpu");
  }
  const auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(took, std::chrono::milliseconds(290));
  EXPECT_LT(took, std::chrono::milliseconds(550));
  EXPECT_TRUE(world.becomes_idle()) << world.busy();
  EXPECT_EQ(cpu.seen(), 2U);
  EXPECT_NE(world.log().find("decision_failed"), std::string::npos);
}

TEST(Decide, AnswerChangesNothing) {
  const auto check = [](const PolicyText& policy, std::vector<std::size_t> candidates,
                        bool expected) {
    EXPECT_EQ(answer_changes_nothing(setup_of(policy)->policy, candidates), expected);
  };
  check(two_devices(), {0, 1}, false);
  check(two_devices(), {0}, true);
  check(two_devices(), {1}, true);
  check(two_devices(), {}, true);
}

}  // namespace
}  // namespace layard::gateway
