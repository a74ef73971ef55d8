#include "base/checks.h"

#include <cstdio>
#include <cstdlib>

namespace layard::base {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "layard: internal check failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace layard::base
