/// The queued jobs of one device, by client, and whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "scheduler/scheduler.h"

namespace layard::scheduler {

/// A job that waits. Numbers grow with every job, so that their order is the order of arrival.
struct QueuedJob {
  std::uint64_t number = 0;
  JobSpec spec;
  std::int64_t queued_ns = 0;
  std::int64_t estimate_ns = 0;
};

/// Clients with queued work in a circle. Two rules share the device among them: every batch is led
/// by the client in front, which bounds the wait of a client by the number of clients; the rest of
/// a batch goes to whoever has been given the least cost, which makes the shares equal in cost.
/// A client is forgotten when its last queued job leaves; one that comes (back) starts with the
/// least cost of those present, so that having been away is no advantage.
/// Bounds: none of its own; DeviceQueue admits.   Thread-safety: none; its owner locks.
class ClientCircle {
 public:
  /// REQUIRES: a number above all before it.
  void push(const QueuedJob& job);

  /// Takes a job out, wherever it stands.
  std::optional<QueuedJob> remove(std::uint64_t number);

  /// The oldest job of the client in front, which moves to the end of the circle.
  std::optional<QueuedJob> take_leader();

  /// The oldest job, of key `key` and at most `cost_max`, of the client that has been given the
  /// least cost; equal clients in the order of the circle.
  std::optional<QueuedJob> take_filler(BatchKey key, std::int64_t cost_max);

  std::size_t jobs() const { return index_.size(); }
  std::size_t clients() const { return circle_.size(); }
  std::int64_t cost() const { return cost_; }
  std::int64_t estimate_ns() const { return estimate_ns_; }
  std::size_t client_jobs(ClientId client) const;

  /// Estimate of the queued work that is done before a new job of `client` which takes `own_ns`:
  /// all that the client has queued, and of every other client as much as equal shares allow.
  std::int64_t ahead_ns(ClientId client, std::int64_t own_ns) const;

 private:
  struct Client {
    ClientId id = 0;
    std::map<std::uint64_t, QueuedJob> jobs;  // by number: oldest first; never empty
    std::int64_t estimate_ns = 0;             // sum over jobs
    std::int64_t given_cost = 0;              // of jobs taken, plus what it started with
  };
  using Circle = std::list<Client>;

  Circle::iterator enter(ClientId id);
  QueuedJob take_oldest(Circle::iterator client);
  QueuedJob take_out(Circle::iterator client, std::map<std::uint64_t, QueuedJob>::iterator job);

  Circle circle_;  // front: who leads the next batch
  std::unordered_map<ClientId, Circle::iterator> clients_;
  std::unordered_map<std::uint64_t, Circle::iterator> index_;  // by job number
  std::int64_t cost_ = 0;
  std::int64_t estimate_ns_ = 0;
};

}  // namespace layard::scheduler
