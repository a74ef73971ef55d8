#include "gateway/class_source.h"

#include <future>

#include "support/tiny_model.h"

namespace layard::gateway {
namespace {

class ClassSourceTest : public testing::TinyModel {
 protected:
  void SetUp() override {
    testing::TinyModel::SetUp();
    ServiceOptions service;
    service.model = folder_.path().string();
    service.checkpoints = options();
    auto opened = DecisionService::open(service);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = *std::move(opened);
    source_ = class_source_of(*service_);
  }

  Result<RequestClass> ask(const RouteQuestion& question, ClassQuery query) {
    std::promise<Result<RequestClass>> found;
    source_->ask(question, std::move(query),
                 [&](Result<RequestClass> result) { found.set_value(std::move(result)); });
    return found.get_future().get();
  }

  std::unique_ptr<DecisionService> service_;
  std::unique_ptr<ClassSource> source_;
};

TEST_F(ClassSourceTest, AnswersAreThoseOfTheClassifier) {
  const RoutePolicy& policy = RoutePolicy::built_in();
  const auto question = RouteQuestion::make(policy);
  ASSERT_TRUE(question.ok());
  const auto model = open();
  const auto classifier = RequestClassifier::open(policy, *model);
  for (const char* text : {"This is the end of it", "[1, 2]", "文", ""}) {
    const auto found = ask(*question, {text, "", "", {}});
    const auto wanted = classifier->classify(text);
    ASSERT_TRUE(found.ok() && wanted.ok()) << text;
    EXPECT_EQ(found->name, wanted->name) << text;
    EXPECT_EQ(found->probabilities, wanted->probabilities) << text;
    EXPECT_EQ(found->confidence, wanted->confidence) << text;
  }
}

TEST_F(ClassSourceTest, WhatCannotBeAskedFailsTyped) {
  const auto question = RouteQuestion::make(RoutePolicy::built_in());
  const auto broken = ask(*question, {"\xff", "", "", {}});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidRequest);
  const auto absent = ask(*question, {"a text", "typed-decisions", "", {}});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kBackendUnavailable);
  const auto late = ask(*question, {"a text", "", "", 0.0});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kOverloaded);
}

TEST_F(ClassSourceTest, NobodyIsAskedAfterADrain) {
  const auto question = RouteQuestion::make(RoutePolicy::built_in());
  service_->drain(0);
  const auto found = ask(*question, {"a text", "", "", {}});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace layard::gateway
