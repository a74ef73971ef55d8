/// How long requests of a class take on a device, learned from those that were served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace layard::gateway {

/// Means that forget: each new time counts for a fifth. Units: microseconds, whole, so that sums
/// of predictions return to exactly zero. Thread-safety: one caller at a time.
class ServiceTimes {
 public:
  explicit ServiceTimes(std::size_t classes) : of_class_(classes) {}

  /// A request of a class was served in `time_us`; the first time counts in full.
  void add(std::size_t class_index, std::int64_t time_us);
  /// That of the class; of one never seen that of all requests; of none 0.
  std::int64_t predict_us(std::size_t class_index) const;

 private:
  struct Mean {
    double time_us = 0;
    bool is_known = false;
    void add(std::int64_t time_us);
  };
  std::vector<Mean> of_class_;
  Mean of_all_;
};

}  // namespace layard::gateway
