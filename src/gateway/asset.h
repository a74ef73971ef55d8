/// A file that is in the program. Thread-safety: a constant.
#pragma once

#include <string_view>

namespace layard::gateway {

struct Asset {
  std::string_view name;  ///< below the folder it was taken from
  std::string_view content;
};

}  // namespace layard::gateway
