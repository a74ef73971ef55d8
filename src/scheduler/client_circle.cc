#include "scheduler/client_circle.h"

#include <algorithm>

#include "base/checks.h"

namespace layard::scheduler {

ClientCircle::Circle::iterator ClientCircle::enter(ClientId id) {
  const auto found = clients_.find(id);
  if (found != clients_.end()) return found->second;
  const auto least = std::min_element(
      circle_.begin(), circle_.end(),
      [](const Client& a, const Client& b) { return a.given_cost < b.given_cost; });
  const std::int64_t given_cost = least == circle_.end() ? 0 : least->given_cost;
  const auto client = circle_.insert(circle_.end(), Client{id, {}, 0, given_cost});
  clients_.emplace(id, client);
  return client;
}

void ClientCircle::push(const QueuedJob& job) {
  const auto client = enter(job.spec.client);
  LAYARD_CHECK(client->jobs.empty() || client->jobs.rbegin()->first < job.number);
  client->jobs.emplace_hint(client->jobs.end(), job.number, job);
  client->estimate_ns += job.estimate_ns;
  index_.emplace(job.number, client);
  cost_ += job.spec.cost;
  estimate_ns_ += job.estimate_ns;
}

std::optional<QueuedJob> ClientCircle::remove(std::uint64_t number) {
  const auto found = index_.find(number);
  if (found == index_.end()) return std::nullopt;
  const auto client = found->second;
  return take_out(client, client->jobs.find(number));
}

std::optional<QueuedJob> ClientCircle::take_leader() {
  if (circle_.empty()) return std::nullopt;
  const auto client = circle_.begin();
  circle_.splice(circle_.end(), circle_, client);
  return take_oldest(client);
}

std::optional<QueuedJob> ClientCircle::take_filler(BatchKey key, std::int64_t cost_max) {
  auto best = circle_.end();
  for (auto client = circle_.begin(); client != circle_.end(); ++client) {
    const JobSpec& oldest = client->jobs.begin()->second.spec;
    if (oldest.key != key || oldest.cost > cost_max) continue;
    if (best == circle_.end() || client->given_cost < best->given_cost) best = client;
  }
  if (best == circle_.end()) return std::nullopt;
  return take_oldest(best);
}

QueuedJob ClientCircle::take_oldest(Circle::iterator client) {
  client->given_cost += client->jobs.begin()->second.spec.cost;
  return take_out(client, client->jobs.begin());
}

QueuedJob ClientCircle::take_out(Circle::iterator client,
                                 std::map<std::uint64_t, QueuedJob>::iterator job) {
  LAYARD_CHECK(job != client->jobs.end());
  const QueuedJob taken = job->second;
  client->jobs.erase(job);
  client->estimate_ns -= taken.estimate_ns;
  cost_ -= taken.spec.cost;
  estimate_ns_ -= taken.estimate_ns;
  index_.erase(taken.number);
  if (client->jobs.empty()) {
    clients_.erase(client->id);
    circle_.erase(client);
  }
  return taken;
}

std::size_t ClientCircle::client_jobs(ClientId client) const {
  const auto found = clients_.find(client);
  return found == clients_.end() ? 0 : found->second->jobs.size();
}

std::int64_t ClientCircle::ahead_ns(ClientId client, std::int64_t own_ns) const {
  const auto found = clients_.find(client);
  const std::int64_t own_queued_ns = found == clients_.end() ? 0 : found->second->estimate_ns;
  std::int64_t ahead_ns = own_queued_ns;
  for (const Client& other : circle_) {
    if (other.id == client) continue;
    // Its turn comes with a whole job, however small the share.
    const std::int64_t share_ns =
        std::max(own_queued_ns + own_ns, other.jobs.begin()->second.estimate_ns);
    ahead_ns += std::min(other.estimate_ns, share_ns);
  }
  return ahead_ns;
}

}  // namespace layard::scheduler
