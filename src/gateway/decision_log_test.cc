#include "gateway/decision_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "support/memory_filesystem.h"

namespace layard::gateway {
namespace {

using testing::MemoryFilesystem;

constexpr const char* kPath = "/log.jsonl";
constexpr std::uint64_t kAny = 1 << 30;

// Until so many lines were written or failed.
void wait_for(const DecisionLog& log, std::uint64_t lines) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (log.counters().written + log.counters().failed < lines) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(DecisionLog, LinesInOrderAtTheEndOfTheFile) {
  MemoryFilesystem files;
  ASSERT_TRUE(base::write_atomically(files, kPath, "{\"old\":1}\n").ok());
  std::string expected = "{\"old\":1}\n";
  auto log = DecisionLog::open(files, kPath, nullptr).value();
  for (int i = 0; i < 1000; ++i) {
    const std::string line = "{\"n\":" + std::to_string(i) + "}";
    log->write(line);
    expected += line + "\n";
  }
  // What waits is written at the end.
  log.reset();
  EXPECT_EQ(files.read_text(kPath, kAny).value(), expected);
}

TEST(DecisionLog, LinesOfManyThreadsAreWhole) {
  MemoryFilesystem files;
  auto log = DecisionLog::open(files, kPath, nullptr).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log] {
      for (int j = 0; j < 500; ++j) log->write("{\"line\":true}");
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait_for(*log, 2000);
  EXPECT_EQ(log->counters().written, 2000U);
  EXPECT_EQ(log->counters().dropped, 0U);
  log.reset();
  std::string expected;
  for (int i = 0; i < 2000; ++i) expected += "{\"line\":true}\n";
  EXPECT_EQ(files.read_text(kPath, kAny).value(), expected);
}

TEST(DecisionLog, AFileThatCannotBeOpened) {
  MemoryFilesystem files;
  const auto log = DecisionLog::open(files, "/none/log.jsonl", nullptr);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().code, ErrorCode::kIo);
}

TEST(DecisionLog, AFullDiskIsCountedAndToldOnce) {
  MemoryFilesystem files;
  files.free_bytes_left = 9;  // of two lines
  std::mutex mutex;
  std::vector<std::string> told;
  auto log = DecisionLog::open(files, kPath, [&](const Error& error) {
               EXPECT_EQ(error.code, ErrorCode::kIo);
               const std::lock_guard lock(mutex);
               told.push_back(error.message);
             }).value();
  for (const char* line : {"one", "two", "three", "four", "five"}) log->write(line);
  wait_for(*log, 5);
  EXPECT_EQ(log->counters().written, 2U);
  EXPECT_EQ(log->counters().failed, 3U);
  EXPECT_EQ(log->counters().dropped, 0U);
  // There is room again, and then none: that is told of again.
  files.free_bytes_left = 5;
  for (const char* line : {"six", "seven", "eight"}) log->write(line);
  wait_for(*log, 8);
  EXPECT_EQ(log->counters().written, 3U);
  EXPECT_EQ(log->counters().failed, 5U);
  log.reset();
  EXPECT_EQ(told.size(), 2U);
  EXPECT_NE(told.at(0).find(kPath), std::string::npos) << told.at(0);
  EXPECT_EQ(files.read_text(kPath, kAny).value(), "one\ntwo\n\nsix\n");
}

TEST(DecisionLog, FailuresNeedNobodyToHearOfThem) {
  MemoryFilesystem files;
  files.free_bytes_left = 0;
  auto log = DecisionLog::open(files, kPath, nullptr).value();
  log->write("one");
  wait_for(*log, 1);
  EXPECT_EQ(log->counters().failed, 1U);
}

TEST(DecisionLog, WhatFindsNoRoomIsDroppedAndCounted) {
  MemoryFilesystem files;
  files.free_bytes_left = 2;
  std::promise<void> is_stuck;
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future().share();
  // The first line does not fit, and the disk then takes its time.
  auto log = DecisionLog::open(files, kPath, [&](const Error&) {
               is_stuck.set_value();
               may_go_on.wait();
             }).value();
  log->write("too long");
  is_stuck.get_future().wait();
  files.free_bytes_left = kAny;
  for (std::size_t i = 1; i < DecisionLog::kWaitingMax; ++i) log->write("a");
  EXPECT_EQ(log->counters().dropped, 0U);
  for (int i = 0; i < 5; ++i) log->write("b");
  EXPECT_EQ(log->counters().dropped, 5U);
  log->write(std::string(DecisionLog::kWaitingBytesMax, 'c'));
  EXPECT_EQ(log->counters().dropped, 6U);
  go_on.set_value();
  wait_for(*log, DecisionLog::kWaitingMax);
  log->write("c");  // there is room again
  log.reset();
  std::string expected = "\n";  // after what a failed write may have left
  for (std::size_t i = 1; i < DecisionLog::kWaitingMax; ++i) expected += "a\n";
  EXPECT_EQ(files.read_text(kPath, kAny).value(), expected + "c\n");
}

}  // namespace
}  // namespace layard::gateway
