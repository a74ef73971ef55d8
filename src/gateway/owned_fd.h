/// A file descriptor with one owner, closed with it.
#pragma once

#include <unistd.h>

#include <utility>

namespace layard::gateway {

/// Move-only. Thread-safety: as an int.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}  ///< takes it over; negative: none
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~OwnedFd() { reset(-1); }

  int get() const { return fd_; }  ///< -1: none
  bool is_open() const { return fd_ >= 0; }
  void close() { reset(-1); }

 private:
  void reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

  int fd_ = -1;
};

}  // namespace layard::gateway
