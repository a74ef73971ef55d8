#include "runtime/dtype_choice.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
  static validation::RecordKey key() {
    return {std::string(64, 'a'), std::string(64, 'b'), "", "amx", "kernels", "build", "cpu"};
  }
  void write(const std::string& dtype, double row_ms, bool passed) {
    ParityRecord record;
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
  EXPECT_TRUE(logged("info: dtype auto")) << log_.text;
  EXPECT_TRUE(logged("layard parity m --dtype")) << log_.text;
  EXPECT_TRUE(logged("amx")) << log_.text;
  EXPECT_EQ(choose_dtype({}, key(), "layard parity m", log_), "float32");  // no cache folder
}

TEST_F(DtypeChoice, TheFastestThatPassed) {
  write("float32", 4.0, true);
  EXPECT_EQ(choose(), "float32");
  write("bfloat16", 2.0, true);
  EXPECT_EQ(choose(), "bfloat16");
  EXPECT_TRUE(logged("2.000 ms")) << log_.text;
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
  EXPECT_TRUE(logged("layard parity m")) << log_.text;
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
