/// The classes of conversations that were decided before, so that each is decided once.
///
/// The table holds the class and not the device: the policy is applied on every turn. Two requests
/// of one conversation that arrive together are decided once too: the second waits for the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace layard::gateway {

/// What names a conversation: a keyed hash, so that its bytes are as good as random.
using StickyKey = std::array<std::uint8_t, 16>;

/// Who decided a request's class.
enum class DecisionSource : std::uint8_t {
  kModel,
  kGate,      ///< the size of the text
  kSticky,    ///< an earlier turn
  kOverride,  ///< the client named the device
  kDefault,   ///< nothing could be decided
  kSkipped,   ///< the answer could not have changed the device
  kError,     ///< the decision failed
};

/// `model`, `gate`, `sticky`, `override`, `default`, `skipped`, `error`.
std::string_view decision_source_name(DecisionSource source);

/// What is kept of a decision.
struct StickyDecision {
  std::string class_name;
  double confidence = 0;
  std::vector<std::pair<std::string, double>> probabilities;
  DecisionSource source = DecisionSource::kModel;
};

struct StickyLimits {
  std::int64_t ttl_s = 86400;  ///< since the last use; at least 1
  std::size_t entries_max = 65536;
  std::size_t deciding_max = 65536;  ///< conversations that are being decided
  std::size_t waiters_max = 64;      ///< requests that wait for one of them
};

struct StickyCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;   ///< all that were no hit
  std::uint64_t waits = 0;    ///< the misses that waited for another's decision
  std::uint64_t evicted = 0;  ///< for want of room
  std::uint64_t expired = 0;
};

class StickyState;

/// The duty to decide a conversation: ends with finish() or, destroyed or dropped, as failed. It
/// may outlive its table. Thread-safety: one caller at a time.
class StickyTurn {
 public:
  StickyTurn() = default;
  StickyTurn(StickyTurn&& other) noexcept;
  StickyTurn& operator=(StickyTurn&& other) noexcept;
  ~StickyTurn() { fail(); }

  /// False: the decision is for its own request only, as there was no room for it or its waiters.
  bool stores() const { return state_ != nullptr; }
  /// Keeps the decision and hands it to those who wait, on this thread.
  void finish(const StickyDecision& decision, std::int64_t now_ns);
  /// Those who wait are told that there is none; the next request of the conversation decides.
  void fail();

 private:
  friend class StickyTable;
  StickyTurn(std::shared_ptr<StickyState> state, const StickyKey& key)
      : state_(std::move(state)), key_(key) {}

  std::shared_ptr<StickyState> state_;
  StickyKey key_{};
};

/// Called once, without a lock, on the thread that decided; null: the decision failed.
using StickyWaiter = std::function<void(const StickyDecision* decision)>;

struct StickyBegin {
  enum class Kind : std::uint8_t {
    kHit,    ///< `decision` is there
    kFirst,  ///< the caller decides, and ends `turn`
    kWait,   ///< the waiter is called later, unless it is cancelled with `waiter`
  };
  Kind kind = Kind::kFirst;
  std::optional<StickyDecision> decision = std::nullopt;
  StickyTurn turn = {};
  std::uint64_t waiter = 0;
};

/// Bounds: StickyLimits; the least recently used conversation gives way. Every call takes constant
/// time, apart from those who wait. Thread-safety: any number of callers.
class StickyTable {
 public:
  explicit StickyTable(const StickyLimits& limits);
  ~StickyTable();
  StickyTable(const StickyTable&) = delete;
  StickyTable& operator=(const StickyTable&) = delete;

  /// Asks for a conversation's class. `waiter` is kept only for kWait.
  StickyBegin begin(const StickyKey& key, std::int64_t now_ns, StickyWaiter waiter);
  /// Whether the waiter was still waiting; it will not be called then. Else it was called, or is
  /// being called.
  bool cancel(const StickyKey& key, std::uint64_t waiter);
  /// Forgets one: what was decided of it says nothing any more.
  void forget(const StickyKey& key);
  /// Forgets every conversation; decisions under way are handed to those who wait, and not kept.
  void clear();

  std::size_t size() const;
  StickyCounters counters() const;

 private:
  std::shared_ptr<StickyState> state_;
};

}  // namespace layard::gateway
