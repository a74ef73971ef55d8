#include "times.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace layard::bench {

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

std::string times_json(const std::vector<double>& values_ms) {
  std::ostringstream out;
  out << "{\"n\": " << values_ms.size() << ", \"p50_ms\": " << percentile(values_ms, .5)
      << ", \"p90_ms\": " << percentile(values_ms, .9)
      << ", \"p99_ms\": " << percentile(values_ms, .99)
      << ", \"max_ms\": " << percentile(values_ms, 1) << "}";
  return out.str();
}

void PairedTimes::add(int index, double ms) {
  const bool proxied_one = proxied(index);
  (proxied_one ? proxied_ms_ : direct_ms_).push_back(ms);
  round_ms_ = (index % 4 == 0 ? 0 : round_ms_) + (proxied_one ? ms : -ms);
  if (index % 4 == 3) added_ms_.push_back(round_ms_ / 2);
}

std::string PairedTimes::json() const {
  std::ostringstream out;
  out << "\"direct\": " << times_json(direct_ms_) << ", \"proxied\": " << times_json(proxied_ms_)
      << ", \"added\": {\"p50_ms\": " << percentile(proxied_ms_, .5) - percentile(direct_ms_, .5)
      << ", \"p99_ms\": " << percentile(proxied_ms_, .99) - percentile(direct_ms_, .99)
      << ", \"round_p50_ms\": " << percentile(added_ms_, .5) << "}";
  return out.str();
}

}  // namespace layard::bench
