/// Sockets, epoll and clocks for the gateway's benchmark: Linux, loopback, HTTP without TLS.
/// What fails here ends the program: a benchmark that lost a connection has nothing to report.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace layard::bench {

/// Prints `PROGRAM: text` on standard error and ends with status 2.
[[noreturn]] void fail(const std::string& text);

/// Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
std::int64_t now_ns();

/// Seconds of processor time this process has used, in user and kernel mode.
double cpu_seconds_of_self();
/// The same of another process with all its threads, from /proc/PID/stat, in steps of a clock tick.
double cpu_seconds_of(int pid);
/// Resident memory of a process in bytes, and the most it ever had.
struct Memory {
  std::int64_t resident = 0;
  std::int64_t peak = 0;
  std::int64_t anonymous = 0;  ///< of `resident`, without mapped files
};
Memory memory_of(int pid);

/// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }
  int release();
  void reset();

 private:
  int value_ = -1;
};

/// As many descriptors as the system allows this process.
void raise_descriptor_limit();
/// A non-blocking listening socket on 127.0.0.1; port 0 takes a free one.
Descriptor listen_on(int port);
int port_of(const Descriptor& socket);
/// A connected socket to 127.0.0.1 or another IPv4 address, without Nagle's delay.
Descriptor connect_to(const std::string& host, int port, bool blocking);
/// Accepts one connection as non-blocking; empty when there is none.
Descriptor accept_on(const Descriptor& listener);
/// A timer without a time yet, on CLOCK_MONOTONIC.
Descriptor make_timer();
/// Sets when a timer becomes readable; a time that is past makes it readable at once.
void set_timer(const Descriptor& timer, std::int64_t at_ns);
/// Takes a timer's or signal's pending reading, so that it is quiet again.
void drain(const Descriptor& descriptor);
/// Blocks SIGTERM and SIGINT and gives a descriptor that becomes readable when one comes.
Descriptor make_stop_signal();

class Epoll {
 public:
  Epoll();
  void add(int descriptor, std::uint32_t events, std::uint64_t tag);
  void change(int descriptor, std::uint32_t events, std::uint64_t tag);
  /// Waits without limit for the next events.
  std::span<const epoll_event> wait();

 private:
  Descriptor epoll_;
  std::vector<epoll_event> events_;
};

/// `http://127.0.0.1:8080`; a path is refused.
struct Address {
  std::string host;
  int port = 0;
  static Address parse(const std::string& url);
};

}  // namespace layard::bench
