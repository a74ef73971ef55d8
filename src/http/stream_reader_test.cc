#include "http/stream_reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "support/fake_loop.h"

namespace layard::http {
namespace {

using Fill = StreamReader::Fill;

class HttpStreamReader : public ::testing::Test {
 protected:
  Detached fill() {
    last_.reset();
    const Fill fill = co_await reader_.fill();
    last_ = fill;
  }
  void send(std::string_view bytes) {
    wire_->incoming += bytes;
    stream_.poll();
    loop_.run();
  }
  void close_client() {
    wire_->client_closed = true;
    stream_.poll();
    loop_.run();
  }

  testing::FakeLoop loop_;
  std::shared_ptr<testing::FakeWire> wire_ = std::make_shared<testing::FakeWire>();
  testing::FakeStream stream_{loop_, wire_};
  std::size_t received_ = 0;
  const std::function<void(std::size_t)> count_ = [this](std::size_t bytes) { received_ += bytes; };
  StreamReader reader_{stream_, count_};
  std::optional<Fill> last_;
};

TEST_F(HttpStreamReader, FillsAndConsumes) {
  fill();
  EXPECT_TRUE(reader_.is_waiting());
  send("abc");
  EXPECT_EQ(last_, Fill::kData);
  EXPECT_EQ(reader_.bytes(), "abc");
  reader_.consume(2);
  EXPECT_EQ(reader_.bytes(), "c");
  fill();
  send("de");
  EXPECT_EQ(reader_.bytes(), "cde");
  reader_.consume(100);
  EXPECT_EQ(reader_.bytes(), "");
  EXPECT_EQ(received_, 5U);
}

TEST_F(HttpStreamReader, EndsAndFailures) {
  fill();
  close_client();
  EXPECT_EQ(last_, Fill::kEnd);
  fill();
  EXPECT_EQ(last_, Fill::kEnd);
}

TEST_F(HttpStreamReader, AStoppedWaitLosesNothing) {
  fill();
  loop_.run();
  reader_.stop_waiting();
  EXPECT_EQ(last_, Fill::kStopped);
  send("abc");  // the read that was under way
  EXPECT_EQ(reader_.bytes(), "abc");
  fill();
  send("d");
  EXPECT_EQ(last_, Fill::kData);
  EXPECT_EQ(reader_.bytes(), "abcd");
  reader_.stop_waiting();  // nobody waits
  fill();
  send("e");
  EXPECT_EQ(last_, Fill::kData);
}

TEST_F(HttpStreamReader, GrowsToItsBoundAndShrinksAgain) {
  const std::string many(StreamReader::kBufferBytesMax, 'x');
  wire_->incoming = many;
  while (reader_.bytes().size() < many.size()) {
    fill();
    loop_.run();
    ASSERT_EQ(last_, Fill::kData);
  }
  EXPECT_EQ(reader_.bytes(), many);
  reader_.consume(many.size());
  fill();
  send("a");
  reader_.consume(1);
  fill();
  send("b");
  EXPECT_EQ(reader_.bytes(), "b");
}

TEST_F(HttpStreamReader, WatchingNoticesTheClientLeaving) {
  int gone = 0;
  reader_.watch([&] { ++gone; });
  send("next request");
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(reader_.bytes(), "next request");
  close_client();
  EXPECT_EQ(gone, 1);
  fill();
  EXPECT_EQ(last_, Fill::kEnd);
}

TEST_F(HttpStreamReader, WatchingReadsNoFurtherThanItsBound) {
  wire_->incoming = std::string(3 * StreamReader::kBufferBytesMax, 'x');
  int gone = 0;
  reader_.watch([&] { ++gone; });
  loop_.run();
  EXPECT_EQ(reader_.bytes().size(), StreamReader::kBufferBytesMax);
  EXPECT_EQ(wire_->incoming.size(), 2 * StreamReader::kBufferBytesMax);
  EXPECT_EQ(gone, 0);
}

TEST_F(HttpStreamReader, AnUnwatchedReadIsLeftToTheNextFill) {
  reader_.watch([] { FAIL(); });
  reader_.unwatch();
  fill();
  send("abc");
  EXPECT_EQ(last_, Fill::kData);
  EXPECT_EQ(reader_.bytes(), "abc");
  close_client();
}

TEST_F(HttpStreamReader, SettlesAfterClosing) {
  reader_.watch([] {});
  reader_.unwatch();
  bool settled = false;
  const auto run = [&]() -> Detached {
    co_await reader_.settle();
    settled = true;
  };
  run();
  EXPECT_FALSE(settled);
  stream_.close();
  loop_.run();
  EXPECT_TRUE(settled);
}

}  // namespace
}  // namespace layard::http
