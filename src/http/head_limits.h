/// Bounds of everything before a request's body.
#pragma once

#include <cstddef>

namespace layard::http {

struct HeadLimits {
  std::size_t head_bytes_max = 16 * 1024;  // request line and fields together
  std::size_t fields_max = 100;
  std::size_t target_bytes_max = 8 * 1024;
};

}  // namespace layard::http
