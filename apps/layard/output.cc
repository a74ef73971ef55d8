#include "output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <iostream>

namespace layard::cli {

bool output_is_lost() {
  if (!std::cout) return true;
  // A closed one was replaced at the start by one that cannot be written to.
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY) return true;
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

}  // namespace layard::cli
