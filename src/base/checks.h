/// Assertions for programmer errors only; input can never reach them.
#pragma once

namespace layard::base {

/// Writes where the check failed to the error stream and ends the process.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace layard::base

/// Holds in every build.
#define LAYARD_CHECK(condition) \
  ((condition) ? (void)0 : ::layard::base::check_failed(#condition, __FILE__, __LINE__))

/// Holds in debug builds; for inner loops.
#ifdef NDEBUG
#define LAYARD_DCHECK(condition) ((void)0)
#else
#define LAYARD_DCHECK(condition) LAYARD_CHECK(condition)
#endif
