#include "http/client_connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "support/fake_dialer.h"
#include "support/fake_loop.h"

namespace layard::http {
namespace {

using testing::FakeLoop;
using testing::FakeStream;
using testing::FakeWire;
using testing::run_into;

class HttpClientConnection : public ::testing::Test {
 protected:
  FakeLoop loop_;
  std::shared_ptr<FakeWire> wire_ = std::make_shared<FakeWire>();
  int retired_ = 0;
  std::shared_ptr<ClientConnection> connection_ = std::make_shared<ClientConnection>(
      std::make_unique<FakeStream>(loop_, wire_), "http://a:80", [this] { ++retired_; });
};

TEST_F(HttpClientConnection, WritesInParts) {
  wire_->piece_bytes_max = 2;
  std::optional<bool> done;
  int parts = 0;
  run_into(connection_->write_all("hello", [&] { ++parts; }), done);
  loop_.run();
  EXPECT_EQ(done, true);
  EXPECT_EQ(wire_->sent, "hello");
  EXPECT_EQ(parts, 3);
  EXPECT_EQ(connection_->bytes_written(), 5U);
  connection_->retire();
  EXPECT_EQ(retired_, 1);
  EXPECT_TRUE(wire_->closed);
}

TEST_F(HttpClientConnection, ABrokenWriteSaysSo) {
  wire_->window_bytes = 3;
  std::optional<bool> done;
  run_into(connection_->write_all("hello", [] {}), done);
  loop_.run();
  EXPECT_FALSE(done.has_value());
  wire_->client_reset = true;
  wire_->poke();
  loop_.run();
  EXPECT_EQ(done, false);
  EXPECT_EQ(connection_->bytes_written(), 3U);
  connection_->retire();
}

TEST_F(HttpClientConnection, RetiringWaitsForWhatIsUnderWay) {
  wire_->window_bytes = 0;
  std::optional<bool> done;
  run_into(connection_->write_all("hello", [] {}), done);
  connection_->reader().watch([] {});
  loop_.run();
  std::weak_ptr<ClientConnection> weak = connection_;
  connection_->reader().unwatch();
  connection_->retire();
  connection_->retire();
  connection_.reset();
  EXPECT_EQ(retired_, 0);
  EXPECT_FALSE(weak.expired());
  loop_.run();
  EXPECT_EQ(done, false);
  EXPECT_EQ(retired_, 1);
  EXPECT_TRUE(weak.expired());
}

TEST_F(HttpClientConnection, NothingIsWrittenAfterClosing) {
  connection_->close();
  std::optional<bool> done;
  run_into(connection_->write_all("hello", [] {}), done);
  loop_.run();
  EXPECT_EQ(done, false);
  EXPECT_EQ(wire_->sent, "");
  connection_->retire();
  EXPECT_EQ(retired_, 1);
}

}  // namespace
}  // namespace layard::http
