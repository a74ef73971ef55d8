#include "layard/benchmark.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace layard {
namespace {

using base::JsonValue;

/// The checkpoint that ships: its tokenizer reads the workload's words.
ModelOptions starter() {
  ModelOptions options;
  options.model = std::string(LAYARD_SOURCE_DIR) + "/models/starter";
  options.environment.threads = 1;
  return options;
}

class BenchmarkTest : public ::testing::Test {
 protected:
  std::vector<JsonValue> run(const BenchmarkOptions& options, bool& passed);
};

std::vector<JsonValue> BenchmarkTest::run(const BenchmarkOptions& benchmark_options, bool& passed) {
  std::vector<JsonValue> records;
  std::size_t last_done = 0;
  std::size_t last_total = 0;
  const auto result = benchmark(
      starter(), benchmark_options,
      [&](std::string_view line) { records.push_back(*base::parse_json(line, {})); },
      [&](std::size_t done, std::size_t total) {
        EXPECT_EQ(done, last_done + 1);
        last_done = done;
        last_total = total;
      });
  EXPECT_TRUE(result.ok()) << result.error().message;
  passed = result.ok() && *result;
  EXPECT_LE(last_done, last_total);
  return records;
}

// Field names and their order, percentiles, and one record a length.
TEST_F(BenchmarkTest, Records) {
  BenchmarkOptions wanted;
  wanted.lengths = {72, 80, 100'000};
  wanted.questions = 2;
  wanted.warmup = 1;
  wanted.iters = 5;
  bool passed = false;
  const std::vector<JsonValue> records = run(wanted, passed);
  EXPECT_TRUE(passed);
  ASSERT_EQ(records.size(), 3U);
  const char* names[] = {"tool",    "layard",    "model",          "device_requested",  "dtype",
                         "length",  "questions", "load_s",         "platform",          "status",
                         "backend", "device",    "routing_reason", "artifact_revision", "buckets",
                         "forward", "predict",   "samples"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    EXPECT_EQ(records[0].members()[i].key, names[i]);
  }
  EXPECT_EQ(records[1].find("length")->text(), "80");
  for (const char* part : {"forward", "predict"}) {
    const JsonValue& times = *records[1].find(part);
    EXPECT_EQ(times.find("n")->text(), "5");
    const auto samples = records[1].find("samples")->find(std::string(part) + "_ms")->items();
    std::vector<double> sorted;
    for (const JsonValue& sample : samples) sorted.push_back(sample.as_double());
    std::sort(sorted.begin(), sorted.end());
    EXPECT_DOUBLE_EQ(times.find("p50_ms")->as_double(), sorted[2]);
    EXPECT_DOUBLE_EQ(times.find("min_ms")->as_double(), sorted[0]);
    EXPECT_NEAR(times.find("p95_ms")->as_double(), sorted[3] + 0.8 * (sorted[4] - sorted[3]), 1e-9);
  }
  EXPECT_EQ(records[2].find("status")->text(), "skipped: exceeds checkpoint max_len");
  EXPECT_EQ(records[2].find("backend"), nullptr);
}

// Too short for the questions: recorded, and the other lengths are still measured.
TEST_F(BenchmarkTest, AFailedLengthDoesNotEndTheRun) {
  BenchmarkOptions wanted;
  wanted.lengths = {3, 128};
  wanted.warmup = 0;
  wanted.iters = 1;
  bool passed = true;
  const std::vector<JsonValue> records = run(wanted, passed);
  EXPECT_FALSE(passed);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].find("status")->text().starts_with("error: InvalidRequestError: "));
  EXPECT_EQ(records[1].find("status")->text(), "ok");
}

// The run ends at the next call, timed or not, and what was measured before has its record.
TEST_F(BenchmarkTest, ARunCanBeEnded) {
  const auto check = [](int calls, std::size_t records_expected) {
    BenchmarkOptions wanted;
    wanted.lengths = {72, 80};
    wanted.warmup = 1;
    wanted.iters = 2;
    int asked = 0;
    wanted.cancelled = [&] { return ++asked > calls; };
    std::size_t records = 0;
    const auto result = benchmark(starter(), wanted, [&](std::string_view) { ++records; }, {});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(asked, calls + 1);
    EXPECT_EQ(records, records_expected);
  };
  check(0, 0);
  check(2, 0);  // in the warm-up
  check(4, 0);  // among the forward passes
  check(6, 0);  // among the predictions
  check(7, 1);  // a length has 1 + 2 + 2 + 2 calls
  check(13, 1);
}

TEST_F(BenchmarkTest, OptionsOutOfRange) {
  const auto refuse = [](auto change) {
    BenchmarkOptions wanted;
    change(wanted);
    const auto result = benchmark(starter(), wanted, [](std::string_view) {}, {});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
  };
  refuse([](BenchmarkOptions& o) { o.lengths = {}; });
  refuse([](BenchmarkOptions& o) { o.lengths = {0}; });
  refuse([](BenchmarkOptions& o) { o.lengths.assign(300, 64); });
  refuse([](BenchmarkOptions& o) { o.questions = 0; });
  refuse([](BenchmarkOptions& o) { o.questions = 65; });
  refuse([](BenchmarkOptions& o) { o.warmup = -1; });
  refuse([](BenchmarkOptions& o) { o.iters = 0; });
}

TEST_F(BenchmarkTest, RequestsHaveTheLengthAsked) {
  const auto model = Model::open(starter());
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const std::int64_t length : {64, 127, 128, 200, 256}) {
    for (const int questions : {1, 4, 8}) {
      const auto request = make_request(**model, length, questions, 11);
      if (!request.ok()) {
        EXPECT_LT(length, 128) << request.error().message;  // the questions alone are longer
        continue;
      }
      EXPECT_EQ(*(*model)->sequence_length(request->state, request->questions), length);
      const auto again = make_request(**model, length, questions, 11);
      EXPECT_EQ(request->state.text, again->state.text);
    }
  }
  EXPECT_FALSE(make_request(**model, 100'000, 1, 0).ok());
  EXPECT_FALSE(make_request(**model, 128, 0, 0).ok());
}

}  // namespace
}  // namespace layard
