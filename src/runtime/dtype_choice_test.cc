#include "runtime/dtype_choice.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <functional>

#include "layard/version.h"
#include "support/temp_dir.h"

namespace layard::runtime {
namespace {

using validation::ParityRecord;

class LinesLog final : public base::LogSink {
 public:
  void write(base::LogLevel level, std::string_view message) override {
    text += std::string(base::log_level_name(level)) + ": " + std::string(message) + "\n";
  }
  std::string text;
};

class DtypeChoice : public ::testing::Test {
 protected:
  using Change = std::function<void(ParityRecord&)>;
  static validation::RecordKey key() {
    return {std::string(64, 'a'), std::string(64, 'b'), "", "amx", "kernels", "build", "cpu"};
  }
  void write(const std::string& dtype, double row_ms, bool passed) {
    write(dtype, row_ms, passed, [](ParityRecord&) {});
  }
  void write(const std::string& dtype, double row_ms, bool passed, const Change& change) {
    ParityRecord record;
    change(record);
    record.key = key();
    record.key.dtype = dtype;
    record.weights = "trained";
    record.rows = 240;
    record.passed = passed;
    record.row_ms_median = row_ms;
    ASSERT_TRUE(validation::write_record(cache_.path(), record).ok());
  }
  std::string choose() {
    log_.text.clear();
    return choose_dtype(cache_.path(), key(), "layard parity m", log_);
  }
  bool logged(const std::string& part) const { return log_.text.find(part) != std::string::npos; }

  testing::TempDir cache_;
  LinesLog log_;
};

TEST_F(DtypeChoice, Float32WithoutRecords) {
  EXPECT_EQ(choose(), "float32");
  EXPECT_TRUE(logged("warning: dtype auto")) << log_.text;
  EXPECT_TRUE(logged("float32 is used; make records with: layard parity m --dtype")) << log_.text;
  EXPECT_TRUE(logged("amx")) << log_.text;
  EXPECT_FALSE(logged("recorded")) << log_.text;
  log_.text.clear();
  EXPECT_EQ(choose_dtype({}, key(), "layard parity m", log_), "float32");  // no cache folder
  EXPECT_TRUE(logged("LAYARD_CACHE")) << log_.text;
}

TEST_F(DtypeChoice, TheFastestThatPassed) {
  write("float32", 4.0, true);
  EXPECT_EQ(choose(), "float32");
  write("bfloat16", 2.0, true);
  EXPECT_EQ(choose(), "bfloat16");
  EXPECT_TRUE(logged("2.000 ms")) << log_.text;
  EXPECT_FALSE(logged("warning")) << log_.text;
  write("int8", 1.0, false);
  EXPECT_EQ(choose(), "bfloat16");
  write("int8", 1.0, true);
  EXPECT_EQ(choose(), "int8");
  write("float32", 0.5, true);
  EXPECT_EQ(choose(), "float32");
}

TEST_F(DtypeChoice, TheMoreExactOfEquals) {
  write("int8", 2.0, true);
  write("float16", 2.0, true);
  write("bfloat16", 2.0, true);
  EXPECT_EQ(choose(), "float16");
}

TEST_F(DtypeChoice, OnlyFailuresMeanFloat32) {
  write("bfloat16", 1.0, false);
  EXPECT_EQ(choose(), "float32");
  EXPECT_TRUE(logged("warning: dtype auto")) << log_.text;
  EXPECT_TRUE(logged("(recorded: bfloat16 failed)")) << log_.text;
}

TEST_F(DtypeChoice, RefusedRecordsAreWarnedAbout) {
  write("bfloat16", 2.0, true);
  validation::RecordKey record = key();
  record.dtype = "bfloat16";
  const auto path = validation::record_path(cache_.path(), record);
  ::chmod(path.c_str(), 0646);
  EXPECT_EQ(choose(), "float32");
  EXPECT_TRUE(logged("warning: parity record")) << log_.text;
  EXPECT_TRUE(logged(path.string())) << log_.text;
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(choose(), "bfloat16");
  EXPECT_FALSE(logged("warning")) << log_.text;
}

TEST_F(DtypeChoice, OutdatedRecordsAreMentioned) {
  write("bfloat16", 2.0, true);
  validation::RecordKey newer = key();
  newer.build = "another";
  EXPECT_EQ(choose_dtype(cache_.path(), newer, "layard parity m", log_), "float32");
  EXPECT_TRUE(logged("info: parity record")) << log_.text;
  EXPECT_TRUE(logged("another build")) << log_.text;
  EXPECT_TRUE(logged("(recorded: bfloat16 outdated)")) << log_.text;
}

// A format that was asked for by name: said only where its own gate failed.
TEST_F(DtypeChoice, FailedRecordsAreNamed) {
  const auto check = [&](const std::string& dtype, std::vector<std::string> parts) {
    log_.text.clear();
    validation::RecordKey wanted = key();
    wanted.dtype = dtype;
    const std::string text = failed_record(cache_.path(), wanted, "layard parity m", log_);
    EXPECT_EQ(text.empty(), parts.empty()) << text;
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  };
  check("int8", {});  // no record
  write("int8", 1.0, true);
  write("float32", 1.0, false, [](ParityRecord& r) { r.prob_max_abs = 0.5; });
  check("int8", {});
  check("float32", {});
  write("int8", 1.0, false, [](ParityRecord& r) {
    r.hard_mismatches = 1;
    r.prob_max_abs = 0.0504;
  });
  check("int8",
        {"dtype int8", "on amx", "off by 0.05 where 0.02 is allowed, 1 clear decision differs (",
         "240 rows", "amx-int8.json", "layard parity m --dtype int8"});
  const auto check_reason = [&](const Change& change, const std::string& reason) {
    write("int8", 1.0, false, change);
    check("int8", {"failed: " + reason + " ("});
  };
  check_reason(
      [](ParityRecord& r) {
        r.hard_mismatches = 7;
        r.prob_max_abs = 0.001;
      },
      "7 clear decisions differ");
  check_reason(
      [](ParityRecord& r) {
        r.prob_max_abs = 0.001;
        r.action_prob_max_abs = 0.3;
      },
      "a probability of the act head is off by 0.3 where 0.02 is allowed");
  check_reason(
      [](ParityRecord& r) {
        r.prob_max_abs = 0.03;
        r.action_prob_max_abs = 0.3;
      },
      "a probability is off by 0.03 where 0.02 is allowed, a probability of the act head "
      "is off by 0.3 where 0.02 is allowed");
  check_reason(
      [](ParityRecord& r) {
        r.prob_max_abs = HUGE_VAL;
        r.all_finite = false;
      },
      "a number is not finite");
  check_reason(
      [](ParityRecord& r) {
        r.action_prob_max_abs = HUGE_VAL;
        r.all_finite = false;
      },
      "a number is not finite");
  check_reason([](ParityRecord& r) { r.all_finite = false; }, "a number is not finite");
  check_reason([](ParityRecord& r) { r.token_mismatch_cases = 1; }, "1 case has other token ids");
  check_reason(
      [](ParityRecord& r) {
        r.token_mismatch_cases = 2;
        r.repeat_identical = false;
      },
      "2 cases have other token ids, a second run gave other bits");
  check_reason([](ParityRecord&) {}, "the record does not say why");
  EXPECT_EQ(log_.text, "");
  validation::RecordKey newer = key();
  newer.dtype = "int8";
  newer.build = "another";
  EXPECT_EQ(failed_record(cache_.path(), newer, "layard parity m", log_), "");
  EXPECT_TRUE(logged("info: parity record")) << log_.text;
  EXPECT_EQ(failed_record({}, newer, "layard parity m", log_), "");
}

TEST(BuildIdentity, IsVersionAndHash) {
  const std::string identity = build_identity();
  EXPECT_TRUE(identity.starts_with(std::string(version()) + "+")) << identity;
  const std::string hash = identity.substr(identity.find('+') + 1);
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos) << hash;
}

}  // namespace
}  // namespace layard::runtime
