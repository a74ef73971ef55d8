#include "layard/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/json.h"
#include "runtime/service_hook.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard {
namespace {

constexpr const char* kQuestions =
    R"({"team":{"type":"choice","instructions":"which","criteria":["a","b","c"]},
        "yes":{"type":"noul","instructions":"is it so"}})";

// Two tiny checkpoints of different weights behind the two names of `auto`.
class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::TinyOptions tiny;
    testing::write_tiny_checkpoint(folder_.path() / "english", tiny);
    tiny.seed = 2;
    testing::write_tiny_checkpoint(folder_.path() / "multilingual", tiny);
    std::ofstream(folder_.path() / "models.json")
        << R"({"laya": "english", "laya-multilingual": "multilingual"})";
  }

  ServiceOptions options() {
    ServiceOptions options;
    options.model = "auto";
    options.checkpoints.environment.models_file = (folder_.path() / "models.json").string();
    options.checkpoints.environment.hub_cache_dir = (folder_.path() / "hub").string();
    options.checkpoints.environment.threads = 1;
    options.checkpoints.local_files_only = true;
    options.answer_cache_bytes_max = 0;
    return options;
  }

  static std::unique_ptr<DecisionService> open(const ServiceOptions& options) {
    auto service = DecisionService::open(options);
    EXPECT_TRUE(service.ok()) << service.error().message;
    return *std::move(service);
  }

  static ServiceRequest request(const std::string& text) {
    ServiceRequest request;
    request.request.state.text = text;
    request.request.questions = *parse_questions(kQuestions, {});
    return request;
  }

  static Result<ServiceAnswer> ask(DecisionService& service, ServiceRequest request) {
    std::promise<Result<ServiceAnswer>> answer;
    service.submit(std::move(request),
                   [&](Result<ServiceAnswer> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  }

  static std::uint64_t total(const ServiceStats& stats) {
    return stats.queued + stats.running + stats.completed + stats.failed + stats.cancelled +
           stats.expired + stats.refused;
  }

  // What a model of that name says about `request`, rows included.
  Prediction alone(const std::string& name, const ServiceRequest& request) {
    ModelOptions model = options().checkpoints;
    model.model = name;
    return *(*Model::open(model))
                ->predict(request.request.state, request.request.questions, {.raw = true});
  }

  static void expect_equal_rows(const Prediction& got, const Prediction& wanted) {
    EXPECT_EQ(got.answers.answers, wanted.answers.answers);
    EXPECT_EQ(got.answers.usage, wanted.answers.usage);
    ASSERT_EQ(got.rows.size(), wanted.rows.size());
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
      EXPECT_EQ(got.rows[i].input_ids, wanted.rows[i].input_ids);
      EXPECT_EQ(got.rows[i].logits, wanted.rows[i].logits);
      EXPECT_EQ(got.rows[i].act, wanted.rows[i].act);
    }
  }

  testing::TempDir folder_;
};

TEST_F(ServiceTest, AnswersAreThoseOfAModelAloneWithTheirRoute) {
  const auto service = open(options());
  const auto check = [&](const char* text, const char* model, const char* checkpoint,
                         const char* reason) {
    ServiceRequest wanted = request(text);
    wanted.options.raw = true;
    ServiceRequest asked = wanted;
    if (*model != '\0') asked.request.model = model;
    const auto answer = ask(*service, asked);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    expect_equal_rows(answer->prediction, alone(checkpoint, wanted));
    EXPECT_EQ(answer->route.checkpoint, checkpoint);
    EXPECT_NE(answer->route.reason.find(reason), std::string::npos) << answer->route.reason;
    EXPECT_EQ(answer->prediction.runtime.model, checkpoint);
    EXPECT_EQ(answer->prediction.runtime.execution, "workers");
    EXPECT_TRUE(answer->prediction.runtime.queue_wait_ms.has_value());
    EXPECT_TRUE(answer->prediction.answers.warnings.empty());
    ASSERT_EQ(answer->prediction.answers.extra.size(), 1U);
    EXPECT_EQ(answer->prediction.answers.extra[0].key, "routing");
    EXPECT_EQ(answer->prediction.answers.extra[0].json, print_route(answer->route));
  };
  check("This is the end of it", "", "laya", "English");
  check("Der Kunde wurde zweimal belastet.", "auto", "laya-multilingual", "");
  check("Der Kunde wurde zweimal belastet.", "jev-latest", "laya-multilingual", "");
  check("Der Kunde wurde zweimal belastet.", "convaiinnovations/laya", "laya-multilingual", "");
  check("Der Kunde wurde zweimal belastet.", "laya", "laya", "explicit model='english'");
  check("This is the end of it", " Multilingual ", "laya-multilingual",
        "explicit model='multilingual'");
}

TEST_F(ServiceTest, APinnedModelAnswersWhatNamesNone) {
  ServiceOptions pinned = options();
  pinned.model = "laya-multilingual";
  const auto service = open(pinned);
  const auto answer = ask(*service, request("This is the end of it"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->route.reason, "server default model (--model laya-multilingual)");
  EXPECT_FALSE(answer->route.detection.has_value());
  EXPECT_FALSE(answer->prediction.runtime.model_routing.has_value());
  const auto models = service->models();
  EXPECT_EQ(models.front().name, "laya-multilingual");
  EXPECT_TRUE(models.front().is_default);
  EXPECT_EQ(models.front().state, ServedModel::State::kReady);
  EXPECT_EQ(models.front().encoder, "modernbert");
  EXPECT_EQ(models.front().max_length, 128);
  EXPECT_TRUE(service->is_ready());
  // Loaded when it is first asked for.
  ServiceRequest english = request("x");
  english.request.model = "laya";
  EXPECT_TRUE(ask(*service, english).ok());
}

TEST_F(ServiceTest, WhatIsNotHereIsNamed) {
  const auto service = open(options());
  ServiceRequest absent = request("x");
  absent.request.model = "typed-decisions";
  const auto answer = ask(*service, absent);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(answer.error().message.find("layard download"), std::string::npos)
      << answer.error().message;
  // A path is no name: the operator's checkpoints answer, never another folder.
  ServiceRequest path = request("This is the end of it");
  path.request.model = (folder_.path() / "multilingual").string();
  EXPECT_EQ(ask(*service, path)->route.checkpoint, "laya");
  ServiceOptions closed = options();
  closed.model = "laya";
  closed.load_on_demand = false;
  ServiceRequest other = request("x");
  other.request.model = "multilingual";
  const auto refused = ask(*open(closed), other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kBackendUnavailable);
}

TEST_F(ServiceTest, BadRequestsFailAloneAndNoQuestionsLoadNothing) {
  ServiceOptions lazy = options();
  lazy.model = "laya";
  const auto service = open(lazy);
  ServiceRequest empty = request("x");
  empty.request.questions.questions.clear();
  empty.request.model = "multilingual";
  const auto nothing = ask(*service, empty);
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->prediction.runtime.routing_reason, "no_questions");
  for (const ServedModel& model : service->models()) {
    if (model.name != "laya-multilingual") continue;
    EXPECT_EQ(model.state, ServedModel::State::kUnloaded);
  }
  std::string text;
  for (int i = 0; i < 400; ++i) text += "w" + std::to_string(i) + " ";
  ServiceRequest too_long = request(text);
  too_long.request.overflow = OverflowPolicy::kError;
  const auto refused = ask(*service, too_long);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidRequest);
  const ServiceStats stats = service->stats();
  EXPECT_EQ(stats.failed, 1U);
  EXPECT_EQ(stats.completed, 1U);
  EXPECT_EQ(total(stats), stats.submitted);
}

TEST_F(ServiceTest, ManyCallersGetWhatOneAloneGets) {
  for (const std::uint64_t cache_bytes : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    ServiceOptions many = options();
    many.answer_cache_bytes_max = cache_bytes;
    const auto service = open(many);
    std::vector<Prediction> wanted;
    for (int i = 0; i < 6; ++i) {
      wanted.push_back(alone("laya", request("the text number " + std::to_string(i))));
    }
    std::vector<std::jthread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          const int which = (i + t) % 6;
          ServiceRequest asked = request("the text number " + std::to_string(which));
          asked.request.model = "laya";
          asked.client = std::to_string(t % 3);
          const auto got = ask(*service, asked);
          if (!got.ok() || !(got->prediction.answers.answers ==
                             wanted[static_cast<std::size_t>(which)].answers.answers)) {
            ++wrong;
          }
        }
      });
    }
    threads.clear();
    EXPECT_EQ(wrong, 0);
    const ServiceStats stats = service->stats();
    EXPECT_EQ(stats.completed, 180U);
    EXPECT_EQ(total(stats), stats.submitted);
    if (cache_bytes > 0) {
      EXPECT_EQ(stats.rows, 12U);  // each row once, whoever asked first
      EXPECT_EQ(stats.cached, 174U);
      EXPECT_GT(stats.cache_bytes, 0U);
    } else {
      EXPECT_EQ(stats.rows, 360U);
      EXPECT_EQ(stats.cached, 0U);
    }
    EXPECT_EQ(stats.queue_wait_s.back().second, cache_bytes > 0 ? 6U : 180U);
  }
}

// Whoever comes as the first one's answer is kept finds it in the cache or still on its way.
TEST_F(ServiceTest, EqualRequestsAtAnyMomentRunOnce) {
  constexpr int kTexts = 150;
  ServiceOptions cached = options();
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int text = 0; text < kTexts; ++text) {
        if (!ask(*service, request("the text number " + std::to_string(text))).ok()) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  const ServiceStats stats = service->stats();
  EXPECT_EQ(stats.rows, 2U * kTexts);
  EXPECT_EQ(stats.cached, 3U * kTexts);
}

TEST_F(ServiceTest, RowsInTheCacheAreNotRunAgain) {
  ServiceOptions cached = options();
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  ServiceRequest both = request("This is the end of it");
  both.options.raw = true;
  const auto first = ask(*service, both);
  EXPECT_FALSE(first->cached);
  const auto second = ask(*service, both);
  EXPECT_TRUE(second->cached);
  EXPECT_FALSE(second->prediction.runtime.queue_wait_ms.has_value());
  expect_equal_rows(second->prediction, first->prediction);
  // One known question and a new one: one row.
  ServiceRequest other = both;
  other.request.questions.questions[0].instructions = "another question";
  const auto third = ask(*service, other);
  EXPECT_FALSE(third->cached);
  expect_equal_rows(third->prediction, alone("laya", other));
  EXPECT_EQ(service->stats().rows, 3U);
  // Another checkpoint has other results.
  ServiceRequest elsewhere = both;
  elsewhere.request.model = "multilingual";
  expect_equal_rows(ask(*service, elsewhere)->prediction, alone("laya-multilingual", both));
}

// Rows are what the cache, the counts and the queue know: each order is one.
TEST_F(ServiceTest, OrdersAreRows) {
  ServiceOptions cached = options();
  cached.model = "laya";
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  const auto in_orders = [](std::optional<int> orders) {
    ServiceRequest asked = request("This is the end of it");
    asked.options.raw = true;
    asked.request.orders = orders;
    return asked;
  };
  const auto one = ask(*service, in_orders(std::nullopt));
  EXPECT_EQ(service->stats().rows, 2U);
  EXPECT_TRUE(one->prediction.answers.stability.empty());
  const auto two = ask(*service, in_orders(2));
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_FALSE(two->cached);  // the reversed row is new
  EXPECT_EQ(service->stats().rows, 3U);
  EXPECT_EQ(two->prediction.answers.stability.size(), 2U);
  EXPECT_NE(two->prediction.answers.answers[0], one->prediction.answers.answers[0]);
  const auto again = ask(*service, in_orders(2));
  EXPECT_TRUE(again->cached);
  EXPECT_EQ(again->prediction.answers, two->prediction.answers);
  const auto three = ask(*service, in_orders(3));
  EXPECT_EQ(service->stats().rows, 4U);
  EXPECT_EQ(three->prediction.answers.stability[0].orders, 3);
  // As a model alone, and the service's own default where the request does not say.
  ServiceRequest by_default = in_orders(std::nullopt);
  by_default.options.orders = 2;
  expect_equal_rows(ask(*service, by_default)->prediction, two->prediction);
  ModelOptions model = cached.checkpoints;
  model.model = "laya";
  const auto alone =
      (*Model::open(model))
          ->predict(by_default.request.state, by_default.request.questions, by_default.options);
  expect_equal_rows(two->prediction, *alone);
  EXPECT_EQ(service->stats().rows, 4U);
  ServiceRequest many = in_orders(25);
  EXPECT_EQ(ask(*service, many).error().code, ErrorCode::kInvalidRequest);
}

// Holds the device with a first request whose `done` does not return.
class BlockedService {
 public:
  BlockedService(DecisionService& service, ServiceRequest request) {
    service.submit(std::move(request), [gate = gate_](const Result<ServiceAnswer>&) {
      std::unique_lock lock(gate->mutex);
      gate->blocked = true;
      gate->changed.notify_all();
      gate->changed.wait(lock, [&] { return gate->released; });
    });
    std::unique_lock lock(gate_->mutex);
    gate_->changed.wait(lock, [&] { return gate_->blocked; });
  }
  ~BlockedService() { release(); }
  void release() {
    const std::lock_guard lock(gate_->mutex);
    gate_->released = true;
    gate_->changed.notify_all();
  }

 private:
  // Shared with the device's thread, which may wake up after this object is gone.
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool blocked = false;
    bool released = false;
  };
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

// A request of more rows takes more of the queue.
TEST_F(ServiceTest, EveryOrderCountsInTheQueue) {
  const auto queued_tokens = [&](int orders) {
    ServiceOptions one = options();
    one.model = "laya";
    const auto service = open(one);
    BlockedService blocked(*service, request("first"));
    ServiceRequest asked = request("the second text");
    asked.options.orders = orders;
    service->submit(std::move(asked), [](const Result<ServiceAnswer>&) {});
    return service->stats().queued_tokens;
  };
  const auto single = alone("laya", request("the second text")).rows;
  const auto choice = static_cast<std::int64_t>(single[0].input_ids.size());
  const auto noul = static_cast<std::int64_t>(single[1].input_ids.size());
  EXPECT_EQ(queued_tokens(1), choice + noul);
  EXPECT_EQ(queued_tokens(6), 6 * choice + noul);
}

struct Answers {
  std::mutex mutex;
  std::vector<ErrorCode> errors;
  int ok = 0;
  DecisionService::Done done() {
    return [this](const Result<ServiceAnswer>& result) {
      const std::lock_guard lock(mutex);
      if (result.ok()) {
        ++ok;
      } else {
        errors.push_back(result.error().code);
      }
    };
  }
};

TEST_F(ServiceTest, AFullQueueRefusesAndACancelledRequestLeavesIt) {
  ServiceOptions small = options();
  small.model = "laya";
  small.queue_requests_max = 2;
  const auto service = open(small);
  Answers answers;
  {
    BlockedService blocked(*service, request("first"));
    EXPECT_TRUE(service->has_room());
    const auto second = service->submit(request("second"), answers.done());
    ServiceRequest other = request("third");
    other.client = "other";
    service->submit(other, answers.done());
    EXPECT_FALSE(service->has_room());
    EXPECT_GE(service->retry_after_ms(), 10);
    service->submit(request("fourth"), answers.done());
    EXPECT_EQ(answers.errors, std::vector<ErrorCode>{ErrorCode::kOverloaded});
    service->cancel(second);
    EXPECT_EQ(answers.errors.back(), ErrorCode::kCancelled);
    service->cancel(second);
    service->cancel(9999);
    EXPECT_TRUE(service->has_room());
    EXPECT_EQ(service->stats().queued, 1U);
  }
  EXPECT_TRUE(service->drain(10'000));
  EXPECT_EQ(answers.ok, 1);
  EXPECT_EQ(answers.errors.size(), 2U);
  const ServiceStats stats = service->stats();
  EXPECT_EQ(stats.refused, 1U);
  EXPECT_EQ(stats.cancelled, 1U);
  EXPECT_EQ(stats.completed, 2U);
  EXPECT_EQ(total(stats), stats.submitted);
}

TEST_F(ServiceTest, EqualRequestsInFlightShareOneRunAndOneMayLeave) {
  ServiceOptions cached = options();
  cached.model = "laya";
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  Answers answers;
  {
    BlockedService blocked(*service, request("first"));
    const auto leader = service->submit(request("same"), answers.done());
    service->submit(request("same"), answers.done());
    service->submit(request("same"), answers.done());
    service->cancel(leader);
    const auto lonely = service->submit(request("lonely"), answers.done());
    service->cancel(lonely);
  }
  EXPECT_TRUE(service->drain(10'000));
  EXPECT_EQ(answers.ok, 2);
  EXPECT_EQ(answers.errors, (std::vector<ErrorCode>{ErrorCode::kCancelled, ErrorCode::kCancelled}));
  EXPECT_EQ(service->stats().rows, 4U);  // first and same
}

TEST_F(ServiceTest, ADeadlineThatPassesInTheQueueFailsTyped) {
  ServiceOptions one = options();
  one.model = "laya";
  const auto service = open(one);
  Answers answers;
  BlockedService blocked(*service, request("first"));
  ServiceRequest hurried = request("hurried");
  hurried.deadline_ms = 30;
  service->submit(hurried, answers.done());
  for (int i = 0; i < 2000 && service->stats().expired + service->stats().refused == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::lock_guard lock(answers.mutex);
  EXPECT_EQ(answers.errors, std::vector<ErrorCode>{ErrorCode::kOverloaded});
}

TEST_F(ServiceTest, DrainingRefusesAndItsBoundEndsWhatIsLeft) {
  ServiceOptions one = options();
  one.model = "laya";
  const auto service = open(one);
  Answers answers;
  auto blocked = std::make_unique<BlockedService>(*service, request("first"));
  service->submit(request("left"), answers.done());
  std::future<bool> drained = std::async(std::launch::async, [&] { return service->drain(50); });
  while (service->has_room()) std::this_thread::yield();
  service->submit(request("late"), answers.done());
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  blocked->release();
  EXPECT_FALSE(drained.get());
  EXPECT_EQ(answers.ok, 0);
  EXPECT_EQ(answers.errors, (std::vector<ErrorCode>{ErrorCode::kCancelled, ErrorCode::kCancelled}));
  const ServiceStats stats = service->stats();
  EXPECT_EQ(total(stats), stats.submitted);
  EXPECT_EQ(stats.queued + stats.running, 0U);
}

// Sets the hook for as long as it lives. REQUIRES: goes after the services, so comes before them.
class ScopedHook {
 public:
  explicit ScopedHook(runtime::ServiceHook hook) { runtime::service_hook() = std::move(hook); }
  ~ScopedHook() { runtime::service_hook() = nullptr; }
  ScopedHook(const ScopedHook&) = delete;
  ScopedHook& operator=(const ScopedHook&) = delete;
};

TEST_F(ServiceTest, AStepThatThrowsFailsItsRequestAndNoOther) {
  using runtime::ServiceStep;
  const auto check = [&](ServiceStep step, bool caches, auto thrown, const char* message) {
    const ScopedHook hook([&](ServiceStep at, const Request& request) {
      if (at == step && request.state.text == "bad") throw thrown;
    });
    ServiceOptions one = options();
    one.model = "laya";
    one.answer_cache_bytes_max = caches ? 1 << 20 : 0;
    const auto service = open(one);
    for (int round = 0; round < 3; ++round) {
      const auto failed = ask(*service, request("bad"));
      ASSERT_FALSE(failed.ok());
      EXPECT_EQ(failed.error().code, ErrorCode::kInternal);
      EXPECT_NE(failed.error().message.find(message), std::string::npos) << failed.error().message;
      EXPECT_TRUE(ask(*service, request("good")).ok());
    }
    EXPECT_TRUE(service->drain(10'000));
    const ServiceStats stats = service->stats();
    EXPECT_EQ(stats.failed, 3U);
    EXPECT_EQ(stats.completed, 3U);
    EXPECT_EQ(stats.queued + stats.running, 0U);
    EXPECT_EQ(total(stats), stats.submitted);
  };
  for (const bool caches : {false, true}) {
    for (const auto step :
         {ServiceStep::kPrepare, ServiceStep::kForwardPass, ServiceStep::kAnswer}) {
      check(step, caches, std::runtime_error("no memory"), "no memory");
      check(step, caches, 5, "an unknown exception");
    }
  }
}

TEST_F(ServiceTest, WhoWaitedAlongIsToldWhenAStepThrows) {
  std::atomic<int> thrown = 0;
  const ScopedHook hook([&](runtime::ServiceStep step, const Request& request) {
    if (step != runtime::ServiceStep::kAnswer || request.state.text != "same") return;
    if (thrown++ == 0) throw std::bad_alloc();
  });
  ServiceOptions cached = options();
  cached.model = "laya";
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  Answers answers;
  {
    BlockedService blocked(*service, request("first"));
    for (int i = 0; i < 3; ++i) service->submit(request("same"), answers.done());
  }
  EXPECT_TRUE(service->drain(10'000));
  EXPECT_EQ(answers.ok, 2);
  EXPECT_EQ(answers.errors, std::vector<ErrorCode>{ErrorCode::kInternal});
}

TEST_F(ServiceTest, ADoneThatThrowsKeepsNobodyElseWaiting) {
  ServiceOptions cached = options();
  cached.model = "laya";
  cached.answer_cache_bytes_max = 1 << 20;
  const auto service = open(cached);
  Answers answers;
  {
    BlockedService blocked(*service, request("first"));
    service->submit(request("same"),
                    [](const Result<ServiceAnswer>&) { throw std::runtime_error("the caller's"); });
    service->submit(request("same"), answers.done());
  }
  EXPECT_TRUE(service->drain(10'000));
  EXPECT_EQ(answers.ok, 1);
  EXPECT_EQ(service->stats().completed, 3U);
}

TEST_F(ServiceTest, OptionsThatCannotWorkAreRefused) {
  const auto check = [&](auto change, ErrorCode code) {
    ServiceOptions bad = options();
    change(bad);
    const auto service = DecisionService::open(bad);
    ASSERT_FALSE(service.ok());
    EXPECT_EQ(service.error().code, code) << service.error().message;
  };
  check([](ServiceOptions& o) { o.model = "no-such-model"; }, ErrorCode::kUnsupportedModel);
  check([](ServiceOptions& o) { o.preload = {"no-such-model"}; }, ErrorCode::kUnsupportedModel);
  check([](ServiceOptions& o) { o.default_model = "auto"; }, ErrorCode::kInvalidRequest);
  check([](ServiceOptions& o) { o.queue_requests_max = 0; }, ErrorCode::kInvalidRequest);
  check([](ServiceOptions& o) { o.batch_tokens_max = 0; }, ErrorCode::kInvalidRequest);
  check([](ServiceOptions& o) { o.checkpoints.dtype = "float8"; }, ErrorCode::kInvalidRequest);
  check([](ServiceOptions& o) { o.preload = {"laya-typed-decisions"}; },
        ErrorCode::kBackendUnavailable);
}

TEST_F(ServiceTest, StatesHaveNames) {
  std::set<std::string_view> names;
  for (const auto state : {ServedModel::State::kUnloaded, ServedModel::State::kLoading,
                           ServedModel::State::kReady, ServedModel::State::kFailed}) {
    names.insert(to_string(state));
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"unloaded", "loading", "ready", "failed"}));
}

}  // namespace
}  // namespace layard
