#include "base/side_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

namespace layard::base {
namespace {

TEST(ServerSideThread, RunsInOrderElsewhere) {
  SideThread side;
  std::vector<int> order;
  std::promise<std::thread::id> done;
  for (int i = 0; i < 5; ++i) side.post([&order, i] { order.push_back(i); });
  side.post([&] { done.set_value(std::this_thread::get_id()); });
  EXPECT_NE(done.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ServerSideThread, APieceThatThrowsEndsAlone) {
  SideThread side;
  const auto held = std::make_shared<int>(0);
  std::promise<long> left;
  side.post([held] { throw std::runtime_error("no memory"); });
  side.post([] { throw 5; });
  side.post([&] { left.set_value(held.use_count()); });
  EXPECT_EQ(left.get_future().get(), 1);
}

TEST(ServerSideThread, ClosingEndsWhatRunsAndDropsTheRest) {
  SideThread side;
  std::promise<void> begun;
  std::promise<void> go_on;
  bool first_ended = false;
  const auto dropped = std::make_shared<int>(0);
  side.post([&] {
    begun.set_value();
    go_on.get_future().wait();
    first_ended = true;
  });
  side.post([dropped] { ++*dropped; });
  begun.get_future().wait();
  std::jthread closer([&] { side.close(); });
  while (dropped.use_count() > 1) std::this_thread::yield();
  go_on.set_value();
  closer.join();
  EXPECT_TRUE(first_ended);
  EXPECT_EQ(*dropped, 0);
  side.post([dropped] { ++*dropped; });
  side.close();
  EXPECT_EQ(dropped.use_count(), 1);
}

}  // namespace
}  // namespace layard::base
