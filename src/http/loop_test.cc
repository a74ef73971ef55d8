#include "http/loop.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "http/task.h"
#include "support/tcp_client.h"

namespace layard::http {
namespace {

using testing::TcpClient;

class Waiter final : public IoCompletion {
 public:
  void completed(IoResult result) override { promise_.set_value(result); }
  IoResult get() { return promise_.get_future().get(); }

 private:
  std::promise<IoResult> promise_;
};

/// A loop on its thread and a listener that keeps one stream.
class HttpLoop : public ::testing::Test {
 protected:
  HttpLoop() {
    AcceptOptions options;
    options.host = "127.0.0.1";
    options.loops = {loop_.get()};
    options.on_accept = [this](std::size_t, std::unique_ptr<Stream> stream) {
      accepted_.set_value(std::move(stream));
    };
    options.on_error = [] {};
    auto listener = listen(std::move(options));
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~HttpLoop() override {
    loop_->finish();
    thread_.join();
  }

  // Runs `call` on the loop's thread and waits for it.
  template <class Call>
  void on_loop(Call call) {
    std::promise<void> done;
    loop_->post([&] {
      call();
      done.set_value();
    });
    done.get_future().get();
  }

  std::unique_ptr<SocketLoop> loop_ = SocketLoop::create();
  std::promise<std::unique_ptr<Stream>> accepted_;
  std::unique_ptr<Listener> listener_;
  std::thread thread_;
};

TEST_F(HttpLoop, ReadsWritesAndEnds) {
  TcpClient client(listener_->port());
  auto stream = accepted_.get_future().get();
  EXPECT_EQ(stream->peer_address(), "127.0.0.1");
  EXPECT_TRUE(stream->peer_is_loopback());
  std::array<char, 16> into{};
  Waiter read;
  on_loop([&] { stream->read_some(into, read); });
  client.send("hello");
  EXPECT_EQ(read.get().bytes, 5U);
  EXPECT_EQ(std::string_view(into.data(), 5), "hello");
  Waiter written;
  on_loop([&] { stream->write_some("world", written); });
  EXPECT_EQ(written.get().bytes, 5U);
  EXPECT_EQ(client.receive_bytes(5), "world");
  on_loop([&] { stream->shutdown_send(); });
  EXPECT_EQ(client.receive_all(), "");
  client.close();
  Waiter end;
  on_loop([&] { stream->read_some(into, end); });
  EXPECT_EQ(end.get().status, IoStatus::kEnd);
  on_loop([&] { stream.reset(); });
}

TEST_F(HttpLoop, ClosingFailsWhatIsUnderWay) {
  const TcpClient client(listener_->port());
  auto stream = accepted_.get_future().get();
  std::array<char, 16> into{};
  Waiter read;
  on_loop([&] {
    stream->read_some(into, read);
    stream->close();
    stream->close();
  });
  EXPECT_EQ(read.get().status, IoStatus::kFailed);
  on_loop([&] { stream.reset(); });
}

TEST_F(HttpLoop, TimersRunOnTheLoop) {
  std::promise<std::thread::id> ran;
  const auto before = loop_->now_ns();
  on_loop([&] { loop_->call_after(20, [&] { ran.set_value(std::this_thread::get_id()); }); });
  EXPECT_EQ(ran.get_future().get(), thread_.get_id());
  EXPECT_GE(loop_->now_ns() - before, 20'000'000);
}

TEST_F(HttpLoop, FinishDropsWhatDidNotRun) {
  const auto held = std::make_shared<int>(1);
  on_loop([&] { loop_->call_after(1'000'000, [held] {}); });
  EXPECT_EQ(held.use_count(), 2);
  loop_->finish();
  thread_.join();
  listener_.reset();
  loop_.reset();
  EXPECT_EQ(held.use_count(), 1);
  loop_ = SocketLoop::create();
  thread_ = std::thread([this] { loop_->run(); });
}

TEST_F(HttpLoop, AddressesThatCannotBeListenedOn) {
  const auto check = [this](std::string host, unsigned port, ErrorCode code,
                            std::string_view says) {
    AcceptOptions options;
    options.host = std::move(host);
    options.port = port;
    options.loops = {loop_.get()};
    const auto listener = listen(std::move(options));
    ASSERT_FALSE(listener.ok());
    EXPECT_EQ(listener.error().code, code);
    EXPECT_NE(listener.error().message.find(says), std::string::npos) << listener.error().message;
  };
  check("example.org", 0, ErrorCode::kInvalidRequest, "example.org");
  check("", 0, ErrorCode::kInvalidRequest, "not an address");
  check("127.0.0.1", listener_->port(), ErrorCode::kIo, "Address already in use");
  check("192.0.2.1", 0, ErrorCode::kIo, "192.0.2.1:0");
}

}  // namespace
}  // namespace layard::http
