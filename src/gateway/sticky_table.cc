#include "gateway/sticky_table.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/checks.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// Expired entries are dropped a few at a time, so that no request pays for all of them.
constexpr int kExpiredPerCall = 4;

struct KeyHash {
  std::size_t operator()(const StickyKey& key) const {
    std::uint64_t head = 0;
    std::memcpy(&head, key.data(), sizeof head);
    return static_cast<std::size_t>(head);
  }
};

}  // namespace

std::string_view decision_source_name(DecisionSource source) {
  constexpr std::string_view kNames[] = {"model",   "gate",    "sticky", "override",
                                         "default", "skipped", "error"};
  return kNames[static_cast<std::size_t>(source)];
}

class StickyState {
 public:
  explicit StickyState(const StickyLimits& limits) : limits_(limits) {
    LAYARD_CHECK(limits.entries_max > 0 && limits.ttl_s > 0);
  }

  StickyBegin begin(const StickyKey& key, std::int64_t now_ns, StickyWaiter waiter, bool& owns) {
    const std::scoped_lock lock(mutex_);
    drop_expired(now_ns);
    owns = false;
    if (const auto found = entries_.find(key); found != entries_.end()) {
      if (!is_expired(*found->second, now_ns)) {
        ++counters_.hits;
        use(found->second, now_ns);
        return {StickyBegin::Kind::kHit, found->second->decision, {}, 0};
      }
      ++counters_.expired;
      order_.erase(found->second);
      entries_.erase(found);
    }
    ++counters_.misses;
    if (const auto found = deciding_.find(key); found != deciding_.end()) {
      auto& waiters = found->second.waiters;
      if (waiters.size() >= limits_.waiters_max) return {};
      ++counters_.waits;
      waiters.push_back({++last_waiter_, std::move(waiter)});
      return {StickyBegin::Kind::kWait, std::nullopt, {}, last_waiter_};
    }
    if (deciding_.size() >= limits_.deciding_max) return {};
    deciding_.emplace(key, Deciding{generation_, {}});
    owns = true;
    return {};
  }

  void end(const StickyKey& key, const StickyDecision* decision, std::int64_t now_ns) {
    std::vector<Waiting> waiters;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = deciding_.find(key);
      LAYARD_CHECK(found != deciding_.end());
      waiters = std::move(found->second.waiters);
      const bool is_current = found->second.generation == generation_;
      deciding_.erase(found);
      if (decision != nullptr && is_current) store(key, *decision, now_ns);
    }
    for (const Waiting& one : waiters) one.call(decision);
  }

  bool cancel(const StickyKey& key, std::uint64_t waiter) {
    StickyWaiter dropped;  // destroyed after the lock: what it holds may call back
    const std::scoped_lock lock(mutex_);
    const auto found = deciding_.find(key);
    if (found == deciding_.end()) return false;
    auto& waiters = found->second.waiters;
    const auto one = std::ranges::find(waiters, waiter, &Waiting::id);
    if (one == waiters.end()) return false;
    dropped = std::move(one->call);
    waiters.erase(one);
    return true;
  }

  void forget(const StickyKey& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    order_.erase(found->second);
    entries_.erase(found);
  }

  void clear() {
    const std::scoped_lock lock(mutex_);
    entries_.clear();
    order_.clear();
    ++generation_;
  }

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return entries_.size();
  }
  StickyCounters counters() const {
    const std::scoped_lock lock(mutex_);
    return counters_;
  }

 private:
  struct Entry {
    StickyKey key;
    StickyDecision decision;
    std::int64_t used_ns;
  };
  using Order = std::list<Entry>;  // the last used first
  struct Waiting {
    std::uint64_t id;
    StickyWaiter call;
  };
  struct Deciding {
    std::uint64_t generation;
    std::vector<Waiting> waiters;
  };

  bool is_expired(const Entry& entry, std::int64_t now_ns) const {
    return now_ns - entry.used_ns >= limits_.ttl_s * kSecondNs;
  }

  void use(Order::iterator entry, std::int64_t now_ns) {
    // Callers read the clock before they come here, so a later one may bring an earlier time.
    entry->used_ns = std::max(entry->used_ns, now_ns);
    order_.splice(order_.begin(), order_, entry);
  }

  void drop_last() {
    entries_.erase(order_.back().key);
    order_.pop_back();
  }

  void drop_expired(std::int64_t now_ns) {
    for (int i = 0; i < kExpiredPerCall && !order_.empty(); ++i) {
      if (!is_expired(order_.back(), now_ns)) return;
      ++counters_.expired;
      drop_last();
    }
  }

  void store(const StickyKey& key, const StickyDecision& decision, std::int64_t now_ns) {
    // Nobody else can have stored it: only the one who decides does.
    if (entries_.size() >= limits_.entries_max) {
      ++counters_.evicted;
      drop_last();
    }
    order_.push_front({key, decision, now_ns});
    entries_.emplace(key, order_.begin());
  }

  const StickyLimits limits_;
  mutable std::mutex mutex_;
  Order order_;
  std::unordered_map<StickyKey, Order::iterator, KeyHash> entries_;
  std::unordered_map<StickyKey, Deciding, KeyHash> deciding_;
  StickyCounters counters_;
  std::uint64_t last_waiter_ = 0;
  std::uint64_t generation_ = 0;
};

StickyTurn::StickyTurn(StickyTurn&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), key_(other.key_) {}

StickyTurn& StickyTurn::operator=(StickyTurn&& other) noexcept {
  if (this != &other) {
    fail();
    state_ = std::exchange(other.state_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void StickyTurn::finish(const StickyDecision& decision, std::int64_t now_ns) {
  if (const auto state = std::exchange(state_, nullptr)) state->end(key_, &decision, now_ns);
}

void StickyTurn::fail() {
  if (const auto state = std::exchange(state_, nullptr)) state->end(key_, nullptr, 0);
}

StickyTable::StickyTable(const StickyLimits& limits)
    : state_(std::make_shared<StickyState>(limits)) {}

StickyTable::~StickyTable() = default;

StickyBegin StickyTable::begin(const StickyKey& key, std::int64_t now_ns, StickyWaiter waiter) {
  bool owns = false;
  StickyBegin out = state_->begin(key, now_ns, std::move(waiter), owns);
  if (owns) out.turn = StickyTurn(state_, key);
  return out;
}

bool StickyTable::cancel(const StickyKey& key, std::uint64_t waiter) {
  return state_->cancel(key, waiter);
}
void StickyTable::forget(const StickyKey& key) { state_->forget(key); }
void StickyTable::clear() { state_->clear(); }
std::size_t StickyTable::size() const { return state_->size(); }
StickyCounters StickyTable::counters() const { return state_->counters(); }

}  // namespace layard::gateway
