#include "validation/parity_record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "base/json.h"
#include "support/temp_dir.h"

namespace layard::validation {
namespace {

namespace fs = std::filesystem;
using State = RecordLookup::State;

ParityRecord passing() {
  ParityRecord record;
  record.key = {std::string(64, 'a'), std::string(64, 'b'), "bfloat16",   "amx",
                "0123456789abcdef",   "0.1.0+fedcba98",     "A processor"};
  record.weights = "trained";
  record.date = "2026-11-30";
  record.goldens_sha256 = std::string(64, 'c');
  record.rows = 240;
  record.near_ties = 1;
  record.prob_max_abs = 0.0079;
  record.action_prob_max_abs = 0.0004;
  record.passed = true;
  record.duration_s = 1.5;
  record.row_ms_median = 2.25;
  return record;
}

class Records : public ::testing::Test {
 protected:
  fs::path path() const { return record_path(cache_.path(), passing().key); }
  RecordLookup find() const { return find_record(cache_.path(), passing().key); }
  void check_refused(const std::string& part) const {
    const RecordLookup found = find();
    EXPECT_EQ(found.state, State::kRefused) << part;
    EXPECT_FALSE(found.record.has_value());
    EXPECT_NE(found.problem.find(part), std::string::npos) << found.problem;
    EXPECT_NE(found.problem.find("remove it and run"), std::string::npos) << found.problem;
  }
  testing::TempDir cache_;
};

unsigned mode_of(const fs::path& path) {
  struct stat raw {};
  EXPECT_EQ(::lstat(path.c_str(), &raw), 0) << path;
  return raw.st_mode & 07777U;
}

TEST_F(Records, WrittenPrivatelyAndReadBack) {
  EXPECT_EQ(find().state, State::kAbsent);
  const mode_t before = ::umask(0);
  const Status written = write_record(cache_.path(), passing());
  ::umask(before);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(path(), cache_.path() / "parity" / std::string(16, 'a') / "amx-bfloat16.json");
  EXPECT_EQ(mode_of(path()), 0600U);
  EXPECT_EQ(mode_of(path().parent_path()), 0700U);
  EXPECT_EQ(mode_of(cache_ / "parity"), 0700U);
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), {}), 1);
  const RecordLookup found = find();
  ASSERT_EQ(found.state, State::kCurrent) << found.problem;
  EXPECT_EQ(*found.record, passing());
}

TEST_F(Records, LaterOnesReplaceEarlierOnes) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  ParityRecord failing = passing();
  failing.passed = false;
  failing.prob_max_abs = HUGE_VAL;  // a probability that was not a number
  failing.action_prob_max_abs = HUGE_VAL;
  failing.all_finite = false;
  failing.repeat_identical = false;
  failing.token_mismatch_cases = 2;
  failing.hard_mismatches = 3;
  ASSERT_TRUE(write_record(cache_.path(), failing).ok());
  ASSERT_EQ(find().state, State::kCurrent) << find().problem;
  EXPECT_EQ(*find().record, failing);
}

TEST_F(Records, AnyOtherKeyIsOutdated) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  const auto check = [&](std::string RecordKey::*member, const std::string& value,
                         const std::string& name) {
    RecordKey here = passing().key;
    here.*member = value;
    fs::create_directories(record_path(cache_.path(), here).parent_path());
    ::chmod(record_path(cache_.path(), here).parent_path().c_str(), 0700);
    if (record_path(cache_.path(), here) != path()) {  // somebody copied it over
      fs::copy_file(path(), record_path(cache_.path(), here));
      ::chmod(record_path(cache_.path(), here).c_str(), 0600);
    }
    const RecordLookup found = find_record(cache_.path(), here);
    EXPECT_EQ(found.state, State::kOutdated) << name;
    EXPECT_NE(found.problem.find("another " + name), std::string::npos) << found.problem;
  };
  check(&RecordKey::weights_sha256, std::string(63, 'a') + "b", "weights_sha256");
  check(&RecordKey::weights_sha256, std::string(64, 'd'), "weights_sha256");
  check(&RecordKey::config_sha256, std::string(64, 'd'), "config_sha256");
  check(&RecordKey::dtype, "int8", "dtype");
  check(&RecordKey::isa, "avx2", "isa");
  check(&RecordKey::kernels, "0123456789abcdee", "kernels");
  check(&RecordKey::build, "0.1.1+fedcba98", "build");
  check(&RecordKey::processor, "Another", "processor");
}

// Of an earlier version: no reason to warn, as it would be with an earlier build.
TEST_F(Records, AnotherFormatIsOutdated) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  auto root = *base::parse_json(testing::read_file(path()), {});
  for (const int format : {1, 3}) {
    root.set("format", base::JsonValue::integer(format));
    testing::write_file(path(), write_json(root, base::JsonStyle::kPython));
    const RecordLookup found = find();
    EXPECT_EQ(found.state, State::kOutdated) << found.problem;
    EXPECT_NE(found.problem.find("(format " + std::to_string(format) + ", not 2)"),
              std::string::npos)
        << found.problem;
  }
}

TEST_F(Records, OpenToOthersIsIgnored) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  for (const fs::path& part : {path(), path().parent_path(), cache_ / "parity"}) {
    const unsigned before = mode_of(part);
    for (const unsigned open : {0002U, 0020U, 0004U}) {
      ::chmod(part.c_str(), before | open);
      check_refused(part.string());
    }
    ::chmod(part.c_str(), before);
    EXPECT_EQ(find().state, State::kCurrent);
  }
  ::chmod(path().parent_path().c_str(), 0755);
  const Status refused = write_record(cache_.path(), passing());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
}

TEST_F(Records, AnotherUsersIsIgnored) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  for (const fs::path& part : {path(), path().parent_path(), cache_ / "parity"}) {
    ASSERT_EQ(::chown(part.c_str(), 4711, 4711), 0);
    check_refused(part.string());
    ASSERT_EQ(::chown(part.c_str(), 0, 0), 0);
  }
}

TEST_F(Records, LinksAreNotFollowed) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  fs::rename(path(), cache_ / "elsewhere");
  fs::create_symlink(cache_ / "elsewhere", path());
  check_refused("amx-bfloat16.json");
}

TEST_F(Records, WhatIsNoRecordIsIgnored) {
  ASSERT_TRUE(write_record(cache_.path(), passing()).ok());
  const std::string good = testing::read_file(path());
  const auto check = [&](const std::string& text, const std::string& part) {
    testing::write_file(path(), text);
    check_refused(part);
  };
  check("", "ignored");
  check("{", "ignored");
  check("[]", "'format'");
  check(good + std::string(kRecordBytesMax, ' '), "bytes");
  const auto root = *base::parse_json(good, {});
  for (const base::JsonMember& member : root.members()) {
    base::JsonValue without = root;
    without.erase(member.key);
    check(write_json(without, base::JsonStyle::kPython), "'" + member.key + "'");
    base::JsonValue wrong = root;
    wrong.set(member.key, base::JsonValue::array());
    check(write_json(wrong, base::JsonStyle::kPython), "'" + member.key + "'");
  }
  testing::write_file(path(), good);
  EXPECT_EQ(find().state, State::kCurrent) << find().problem;
}

// A record that was edited to pass contradicts itself.
TEST_F(Records, PassingMustBeMeantThroughout) {
  const auto check = [](const std::string& member, const base::JsonValue& value) {
    auto root = *base::parse_json(print_record(passing()), {});
    root.set(member, value);
    const auto record = parse_record(write_json(root, base::JsonStyle::kPython));
    ASSERT_FALSE(record.ok()) << member;
    EXPECT_EQ(record.error().code, ErrorCode::kArtifactIntegrity);
    EXPECT_NE(record.error().message.find("'" + member + "'"), std::string::npos)
        << record.error().message;
  };
  check("rows", base::JsonValue::integer(199));
  check("hard_mismatches", base::JsonValue::integer(1));
  check("weights", base::JsonValue::string("random"));
  check("prob_max_abs", base::JsonValue::real(0.021));
  check("prob_max_abs", base::JsonValue::null());
  check("prob_max_abs", base::JsonValue::real(-0.5));
  check("action_prob_max_abs", base::JsonValue::real(0.021));
  check("action_prob_max_abs", base::JsonValue::null());
  check("all_finite", base::JsonValue::boolean(false));
  check("repeat_identical", base::JsonValue::boolean(false));
  check("token_mismatch_cases", base::JsonValue::integer(1));
  check("row_ms_median", base::JsonValue::real(0.0));
  check("duration_s", base::JsonValue::string("1"));
  check("rows", base::JsonValue::integer(-1));
}

TEST_F(Records, NoPlaceToWriteIsAnError) {
  testing::write_file(cache_ / "parity", "a file");
  const Status refused = write_record(cache_.path(), passing());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace layard::validation
