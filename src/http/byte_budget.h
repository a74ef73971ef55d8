/// A bound on the memory that many connections' bodies take together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace layard::http {

/// Thread-safety: any number of callers.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool take(std::size_t bytes) noexcept {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > bytes_max_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};
};

/// What one body holds of the budget; given back when it goes. Move-only.
/// Thread-safety: one caller at a time.
class BudgetShare {
 public:
  explicit BudgetShare(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare() { budget_->give_back(bytes_); }

  /// Makes the share at least `bytes` large; false, and unchanged, when the budget is used up.
  bool grow_to(std::size_t bytes) noexcept {
    if (bytes <= bytes_) return true;
    // In steps, so that a body that trickles in does not pay for each piece.
    const std::size_t stepped = (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
    if (!budget_->take(stepped - bytes_)) return false;
    bytes_ = stepped;
    return true;
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t kStepBytes = 4096;
  std::shared_ptr<ByteBudget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace layard::http
