#include "scheduler/client_circle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::scheduler {
namespace {

struct Row {
  ClientId client = 0;
  std::int64_t cost = 1;
  BatchKey key = 0;
};

// Numbers are 1, 2, ... in the order of rows; every unit of cost is estimated at 1 ns.
ClientCircle circle_of(const std::vector<Row>& rows) {
  ClientCircle circle;
  std::uint64_t number = 0;
  for (const Row& row : rows) {
    JobSpec spec;
    spec.client = row.client;
    spec.cost = row.cost;
    spec.key = row.key;
    circle.push({++number, spec, 0, row.cost});
  }
  return circle;
}

// Batches of at most `cost_max`, as "1+3 2": numbers in the order they were taken.
std::string batches(const std::vector<Row>& rows, std::int64_t cost_max) {
  ClientCircle circle = circle_of(rows);
  std::string taken;
  while (const auto leader = circle.take_leader()) {
    if (!taken.empty()) taken += ' ';
    taken += std::to_string(leader->number);
    std::int64_t left = cost_max - leader->spec.cost;
    while (const auto filler = circle.take_filler(leader->spec.key, left)) {
      taken += "+" + std::to_string(filler->number);
      left -= filler->spec.cost;
    }
  }
  EXPECT_EQ(circle.jobs(), 0U);
  EXPECT_EQ(circle.clients(), 0U);
  EXPECT_EQ(circle.cost(), 0);
  EXPECT_EQ(circle.estimate_ns(), 0);
  return taken;
}

TEST(ClientCircle, OneClientIsFirstInFirstOut) {
  EXPECT_EQ(batches({{1}, {1}, {1}}, 0), "1 2 3");
  EXPECT_EQ(batches({{1}, {1}, {1}}, 2), "1+2 3");
  EXPECT_EQ(batches({{1, 5}, {1, 5}, {1, 1}}, 6), "1 2+3");  // 3 does not pass 2
  EXPECT_EQ(batches({{1, 1, 8}, {1, 1, 9}, {1, 1, 8}}, 9), "1 2 3");
}

TEST(ClientCircle, ClientsTakeTurnsToLead) {
  EXPECT_EQ(batches({{1}, {1}, {1}, {2}, {3}}, 0), "1 4 5 2 3");
  EXPECT_EQ(batches({{1, 1, 8}, {1, 1, 8}, {2, 1, 9}, {2, 1, 9}}, 0), "1 3 2 4");
}

TEST(ClientCircle, BatchesAreFilledByLeastCost) {
  // Client 2 gets five of its small jobs for each of client 1's.
  EXPECT_EQ(batches({{1, 5}, {1, 5}, {2}, {2}, {2}, {2}, {2}, {2}}, 16), "1+3+4+5+6+7+8+2");
  // Only the same key, and only what fits.
  EXPECT_EQ(batches({{1, 1, 8}, {2, 1, 9}, {3, 1, 8}, {4, 9, 8}}, 5), "1+3 2 4");
}

TEST(ClientCircle, LargerThanABatchGoesAlone) {
  EXPECT_EQ(batches({{1, 50}, {2, 1}, {2, 1}}, 10), "1 2+3");
}

TEST(ClientCircle, WhoComesBackStartsWithTheLeast) {
  ClientCircle circle = circle_of({{1, 100}, {2, 10}, {2, 10}});
  EXPECT_EQ(circle.take_leader()->number, 1U);  // 1 leaves, having got 100
  EXPECT_EQ(circle.take_leader()->number, 2U);  // 2 has got 10
  JobSpec spec;
  spec.client = 1;
  spec.cost = 5;
  circle.push({4, spec, 0, 5});
  circle.push({5, spec, 0, 5});
  EXPECT_EQ(circle.take_filler(0, 100)->number, 3U);  // both have 10: order of the circle
  EXPECT_EQ(circle.take_filler(0, 100)->number, 4U);
}

TEST(ClientCircle, RemoveFromAnywhere) {
  ClientCircle circle = circle_of({{1, 2}, {1, 3}, {2, 4}});
  EXPECT_EQ(circle.remove(2)->spec.cost, 3);
  EXPECT_FALSE(circle.remove(2).has_value());
  EXPECT_FALSE(circle.remove(99).has_value());
  EXPECT_EQ(circle.client_jobs(1), 1U);
  EXPECT_EQ(circle.cost(), 6);
  EXPECT_TRUE(circle.remove(1).has_value());
  EXPECT_EQ(circle.client_jobs(1), 0U);
  EXPECT_EQ(circle.clients(), 1U);
  EXPECT_EQ(circle.take_leader()->number, 3U);
}

std::int64_t ahead(const std::vector<Row>& rows, ClientId client, std::int64_t own_ns) {
  return circle_of(rows).ahead_ns(client, own_ns);
}

TEST(ClientCircle, AheadIsTheShareServedBefore) {
  EXPECT_EQ(ahead({}, 1, 5), 0);
  EXPECT_EQ(ahead({{1, 7}, {1, 9}}, 1, 5), 16);                 // all of its own
  EXPECT_EQ(ahead({{2, 3}}, 1, 5), 3);                          // less than a share
  EXPECT_EQ(ahead({{2, 3}, {2, 3}, {2, 3}, {2, 3}}, 1, 5), 5);  // an equal share of a flood
  EXPECT_EQ(ahead({{2, 9}, {2, 9}}, 1, 5), 9);                  // a job is not divided
  EXPECT_EQ(ahead({{1, 10}, {2, 20}, {2, 20}, {3, 1}}, 1, 5), 10 + 20 + 1);
}

}  // namespace
}  // namespace layard::scheduler
