#include "server/ask_all.h"

#include <gtest/gtest.h>

#include "server/fake_decider.h"

namespace layard::server {
namespace {

ServiceAnswer numbered(std::int64_t number) {
  ServiceAnswer answer;
  answer.prediction.runtime.request_id = number;
  return answer;
}

// What `done` was called with.
struct Ended {
  int calls = 0;
  std::optional<Result<std::vector<ServiceAnswer>>> result;

  auto done() {
    return [this](Result<std::vector<ServiceAnswer>> r) {
      ++calls;
      result = std::move(r);
    };
  }
  ErrorCode error() const { return result.value().error().code; }
};

TEST(ServerAskAll, AnswersKeepTheirOrder) {
  FakeDecider decider;
  Ended ended;
  ask_all(decider, std::vector<ServiceRequest>(3), {}, ended.done());
  decider.finish(2, numbered(20));
  decider.finish(3, numbered(30));
  EXPECT_EQ(ended.calls, 0);
  decider.finish(1, numbered(10));
  ASSERT_EQ(ended.calls, 1);
  ASSERT_TRUE(ended.result->ok());
  std::vector<std::int64_t> ids;
  for (const ServiceAnswer& a : **ended.result) ids.push_back(a.prediction.runtime.request_id);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(decider.cancelled, 0);
}

TEST(ServerAskAll, AnsweredWhileSubmitting) {
  FakeDecider decider;
  decider.at_once = Result<ServiceAnswer>(numbered(1));
  Ended ended;
  ask_all(decider, std::vector<ServiceRequest>(2), {}, ended.done());
  ASSERT_EQ(ended.calls, 1);
  EXPECT_EQ((*ended.result)->size(), 2U);
}

TEST(ServerAskAll, NothingToAsk) {
  FakeDecider decider;
  Ended ended;
  ask_all(decider, {}, {}, ended.done());
  ASSERT_EQ(ended.calls, 1);
  EXPECT_TRUE((*ended.result)->empty());
}

TEST(ServerAskAll, TheFirstErrorEndsAll) {
  FakeDecider decider;
  Ended ended;
  ask_all(decider, std::vector<ServiceRequest>(3), {}, ended.done());
  decider.finish(2, Error{ErrorCode::kUnsupportedShape, "too long"});
  ASSERT_EQ(ended.calls, 1);
  EXPECT_EQ(ended.error(), ErrorCode::kUnsupportedShape);
  EXPECT_TRUE(decider.waiting.empty());
}

TEST(ServerAskAll, AnErrorWhileSubmittingAsksNoMore) {
  FakeDecider decider;
  decider.at_once = Result<ServiceAnswer>(Error{ErrorCode::kOverloaded, "full"});
  Ended ended;
  ask_all(decider, std::vector<ServiceRequest>(3), {}, ended.done());
  ASSERT_EQ(ended.calls, 1);
  EXPECT_EQ(ended.error(), ErrorCode::kOverloaded);
  EXPECT_EQ(decider.requests.size(), 1U);
}

TEST(ServerAskAll, AClientThatLeavesTakesItsWorkAlong) {
  FakeDecider decider;
  Ended ended;
  std::stop_source client;
  ask_all(decider, std::vector<ServiceRequest>(2), client.get_token(), ended.done());
  decider.finish(1, numbered(1));
  client.request_stop();
  ASSERT_EQ(ended.calls, 1);
  EXPECT_EQ(ended.error(), ErrorCode::kCancelled);
  EXPECT_TRUE(decider.waiting.empty());
}

TEST(ServerAskAll, AClientThatLeftBefore) {
  FakeDecider decider;
  Ended ended;
  std::stop_source client;
  client.request_stop();
  ask_all(decider, std::vector<ServiceRequest>(2), client.get_token(), ended.done());
  ASSERT_EQ(ended.calls, 1);
  EXPECT_EQ(ended.error(), ErrorCode::kCancelled);
  EXPECT_TRUE(decider.waiting.empty());
}

TEST(ServerAskAll, LeavingAfterTheAnswerIsNothing) {
  FakeDecider decider;
  Ended ended;
  std::stop_source client;
  ask_all(decider, std::vector<ServiceRequest>(1), client.get_token(), ended.done());
  decider.finish(1, numbered(1));
  client.request_stop();
  EXPECT_EQ(ended.calls, 1);
  EXPECT_EQ(decider.cancelled, 0);
}

}  // namespace
}  // namespace layard::server
