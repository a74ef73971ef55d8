#include "server/decider.h"

#include <gtest/gtest.h>

#include <future>

#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::server {
namespace {

class ServerDecider : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_tiny_checkpoint(folder_.path() / "tiny", {});
    ServiceOptions options;
    options.model = (folder_.path() / "tiny").string();
    options.checkpoints.environment.threads = 1;
    options.checkpoints.local_files_only = true;
    service_ = DecisionService::open(options).value();
    decider_ = decider_of(*service_);
  }

  static ServiceRequest request() {
    ServiceRequest request;
    request.request.state.text = "a text";
    request.request.questions = parse_questions(R"(["is it so"])", {}).value();
    return request;
  }

  testing::TempDir folder_;
  std::unique_ptr<DecisionService> service_;
  std::unique_ptr<Decider> decider_;
};

TEST_F(ServerDecider, PassesCallsOn) {
  std::promise<Result<ServiceAnswer>> answer;
  const Decider::Ticket ticket = decider_->submit(
      request(), [&](Result<ServiceAnswer> result) { answer.set_value(std::move(result)); });
  const auto result = answer.get_future().get();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->prediction.answers.answers.size(), 1U);
  decider_->cancel(ticket);  // it is over: nothing happens
  EXPECT_TRUE(decider_->has_room());
  EXPECT_TRUE(decider_->is_ready());
  EXPECT_GE(decider_->retry_after_ms(), 1);
  EXPECT_EQ(decider_->stats().completed, 1U);
  EXPECT_EQ(decider_->models().size(), service_->models().size());
  EXPECT_EQ(decider_->route(request().request).value().reason,
            service_->route(request().request).value().reason);
}

TEST_F(ServerDecider, ADrainedServiceHasNoRoom) {
  service_->drain(0);
  EXPECT_FALSE(decider_->has_room());
  ErrorCode code = ErrorCode::kInternal;
  decider_->submit(request(),
                   [&](const Result<ServiceAnswer>& result) { code = result.error().code; });
  EXPECT_EQ(code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace layard::server
