#include "runtime/model_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <stdexcept>

namespace layard::runtime {
namespace {

using State = ServedModel::State;

// Loads nothing real: names are counted, some fail.
class ModelPoolTest : public ::testing::Test {
 protected:
  // All names are there before a second thread looks for one.
  void SetUp() override {
    for (const char* name : {"a", "b", "c", "bad", "throws"}) loads_[name] = 0;
  }

  ModelPoolOptions options() {
    ModelPoolOptions options;
    options.clock = &clock_;
    options.load = [this](const std::string& name) -> Result<PooledModelPtr> {
      ++loads_[name];
      if (gate_) gate_->get_future().wait();
      if (name == "bad") return Error{ErrorCode::kArtifactIntegrity, "bad: broken"};
      if (name == "throws") throw std::runtime_error("no memory");
      auto model = std::make_shared<PooledModel>();
      model->bytes = 100;
      model->encoder = name;
      return PooledModelPtr(std::move(model));
    };
    return options;
  }

  static Result<PooledModelPtr> get(ModelPool& pool, std::size_t index) {
    std::promise<Result<PooledModelPtr>> loaded;
    pool.acquire(index, [&](Result<PooledModelPtr> model) { loaded.set_value(std::move(model)); });
    return loaded.get_future().get();
  }

  base::FakeClock clock_;
  std::map<std::string, std::atomic<int>> loads_;
  std::optional<std::promise<void>> gate_;
};

TEST_F(ModelPoolTest, LoadsOnceAndKeeps) {
  ModelPool pool({"a", "b"}, options());
  EXPECT_EQ(pool.slot(0).state, State::kUnloaded);
  const auto first = get(pool, 0);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->encoder, "a");
  EXPECT_EQ(pool.slot(0).state, State::kReady);
  EXPECT_EQ(get(pool, 0)->get(), first->get());
  EXPECT_TRUE(pool.preload(0).ok());
  EXPECT_EQ(loads_["a"], 1);
  EXPECT_EQ(loads_["b"], 0);
}

TEST_F(ModelPoolTest, AllWhoWaitShareOneLoad) {
  gate_.emplace();
  ModelPool pool({"a"}, options());
  std::atomic<int> answered = 0;
  for (int i = 0; i < 5; ++i) {
    pool.acquire(0, [&](const Result<PooledModelPtr>& model) { answered += model.ok() ? 1 : 100; });
  }
  EXPECT_EQ(pool.slot(0).state, State::kLoading);
  EXPECT_EQ(answered, 0);
  gate_->set_value();
  EXPECT_TRUE(pool.preload(0).ok());
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(loads_["a"], 1);
}

TEST_F(ModelPoolTest, AFailureIsToldToAllAndTriedAgainByTheNext) {
  ModelPool pool({"bad", "throws"}, options());
  for (int i = 1; i <= 2; ++i) {
    const auto bad = get(pool, 0);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().code, ErrorCode::kArtifactIntegrity);
    EXPECT_EQ(pool.slot(0).state, State::kFailed);
    EXPECT_EQ(pool.slot(0).error, "bad: broken");
    EXPECT_EQ(loads_["bad"], i);
  }
  const Status thrown = pool.preload(1);
  ASSERT_FALSE(thrown.ok());
  EXPECT_EQ(thrown.error().code, ErrorCode::kInternal);
}

TEST_F(ModelPoolTest, TheLongestUnusedGivesItsRoom) {
  ModelPoolOptions bounded = options();
  bounded.loaded_bytes_max = 200;
  ModelPool pool({"a", "b", "c"}, bounded);
  const auto held = get(pool, 0);
  clock_.advance_ns(1);
  get(pool, 1).value();
  clock_.advance_ns(1);
  get(pool, 2).value();
  EXPECT_EQ(pool.slot(0).state, State::kUnloaded);
  EXPECT_EQ(pool.slot(1).state, State::kReady);
  EXPECT_EQ(pool.slot(2).state, State::kReady);
  EXPECT_EQ((*held)->encoder, "a");  // who holds it keeps it
  // One above the bound by itself still runs.
  bounded.loaded_bytes_max = 50;
  ModelPool tight({"a", "b"}, bounded);
  get(tight, 0).value();
  EXPECT_EQ(tight.slot(0).state, State::kReady);
  clock_.advance_ns(1);
  get(tight, 1).value();
  EXPECT_EQ(tight.slot(0).state, State::kUnloaded);
  EXPECT_EQ(tight.slot(1).state, State::kReady);
}

TEST_F(ModelPoolTest, TheIdleAreDroppedAndComeBack) {
  ModelPoolOptions idle = options();
  idle.idle_unload_s = 10;
  ModelPool pool({"a", "b"}, idle);
  get(pool, 0).value();
  clock_.advance_ns(6'000'000'000);
  get(pool, 1).value();
  clock_.advance_ns(5'000'000'000);
  pool.drop_idle();
  EXPECT_EQ(pool.slot(0).state, State::kUnloaded);
  EXPECT_EQ(pool.slot(1).state, State::kReady);
  get(pool, 0).value();
  EXPECT_EQ(loads_["a"], 2);
}

TEST_F(ModelPoolTest, ClosingFailsWhoWaitsAndWhoComes) {
  gate_.emplace();
  ModelPool pool({"a", "b"}, options());
  std::atomic<int> cancelled = 0;
  const auto count = [&](const Result<PooledModelPtr>& model) {
    if (!model.ok() && model.error().code == ErrorCode::kCancelled) ++cancelled;
  };
  pool.acquire(0, [](const Result<PooledModelPtr>&) {});
  while (loads_["a"] == 0) std::this_thread::yield();
  pool.acquire(1, count);  // behind the load that hangs
  std::thread closer([&] { pool.close(); });
  // From the moment on when newcomers are refused, the loader must not take up another name.
  std::atomic<bool> closing = false;
  while (!closing) {
    pool.acquire(0, [&](const Result<PooledModelPtr>& model) { closing = closing || !model.ok(); });
    std::this_thread::yield();
  }
  gate_->set_value();
  closer.join();
  EXPECT_EQ(cancelled, 1);
  pool.acquire(0, count);
  EXPECT_EQ(cancelled, 2);
  EXPECT_EQ(loads_["b"], 0);
  pool.close();
}

}  // namespace
}  // namespace layard::runtime
