/// Runs a function on a thread with little stack, as a server's or another language's threads have.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace layard::testing {

/// What readers of nested input must do with, however deep the input is.
inline constexpr std::size_t kSmallStackBytes = std::size_t{128} << 10U;

/// Returns when `work` has ended. An overflow ends the process, which is how a test notices it.
inline void run_on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  if (pthread_attr_init(&attributes) != 0) throw std::runtime_error("no thread attributes");
  const bool started = pthread_attr_setstacksize(&attributes, kSmallStackBytes) == 0 &&
                       pthread_create(
                           &thread, &attributes,
                           [](void* argument) -> void* {
                             (*static_cast<const std::function<void()>*>(argument))();
                             return nullptr;
                           },
                           const_cast<std::function<void()>*>(&work)) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) throw std::runtime_error("no thread with a small stack");
  pthread_join(thread, nullptr);
}

/// `depth` containers in one another: arrays, or objects of one member.
inline std::string nested_json(std::size_t depth, bool objects) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += objects ? "{\"k\":" : "[";
  if (objects) text += "1";
  for (std::size_t i = 0; i < depth; ++i) text += objects ? '}' : ']';
  return text;
}

}  // namespace layard::testing
