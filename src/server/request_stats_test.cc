#include "server/request_stats.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace layard::server {
namespace {

TEST(ServerRequestStats, CountsByEndpointStatusAndTime) {
  RequestStats stats;
  stats.add(Endpoint::kSystemOne, 200, 0.0005);
  stats.add(Endpoint::kSystemOne, 200, 0.0006);
  stats.add(Endpoint::kSystemOne, 422, 11);
  stats.add(Endpoint::kHealth, 200, 0);
  const RequestStats::All all = stats.all();
  const EndpointStats& systemone = all[static_cast<std::size_t>(Endpoint::kSystemOne)];
  EXPECT_EQ(systemone.by_status, (std::map<int, std::uint64_t>{{200, 2}, {422, 1}}));
  EXPECT_EQ(systemone.duration.front(), 1U);  // a bound belongs to what is under it
  EXPECT_EQ(systemone.duration[1], 1U);
  EXPECT_EQ(systemone.duration.back(), 1U);
  EXPECT_DOUBLE_EQ(systemone.duration_s_sum, 11.0011);
  EXPECT_EQ(all[static_cast<std::size_t>(Endpoint::kHealth)].duration.front(), 1U);
  EXPECT_TRUE(all[static_cast<std::size_t>(Endpoint::kBatch)].by_status.empty());
}

TEST(ServerRequestStats, ManyThreads) {
  RequestStats stats;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&stats] {
        for (int i = 0; i < 1000; ++i) stats.add(Endpoint::kBatch, 200, 0.01);
      });
    }
  }
  EXPECT_EQ(stats.all()[static_cast<std::size_t>(Endpoint::kBatch)].by_status.at(200), 4000U);
}

}  // namespace
}  // namespace layard::server
