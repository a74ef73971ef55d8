/// Where tests make a service's own steps fail: nothing that a client sends can.
///
/// Source: none; ours.
#pragma once

#include <cstdint>
#include <functional>

#include "layard/question.h"

namespace layard::runtime {

/// The steps of a request, in their order.
enum class ServiceStep : std::uint8_t {
  kPrepare,      // laying out its rows, on the thread that submits or loads
  kForwardPass,  // on the device's thread, once for each request of a pass
  kAnswer,       // making the answer of the rows' results
};

using ServiceHook = std::function<void(ServiceStep step, const Request& request)>;

/// Called as a step begins, where one is set; what it throws counts as thrown by the step. Empty in
/// the product. REQUIRES: set while no service is at work; may be called on several threads.
inline ServiceHook& service_hook() {
  static ServiceHook hook;
  return hook;
}

}  // namespace layard::runtime
