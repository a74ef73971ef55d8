#include "sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

namespace layard::bench {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

int checked(int result, const char* what) {
  if (result < 0) fail(std::string(what) + ": " + std::strerror(errno));
  return result;
}

sockaddr_in address_of(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    fail("'" + host + "' is not an IPv4 address");
  }
  return address;
}

}  // namespace

void fail(const std::string& text) {
  std::cerr << program_invocation_short_name << ": " << text << "\n";
  std::exit(2);
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

double cpu_seconds_of_self() {
  rusage usage{};
  checked(::getrusage(RUSAGE_SELF, &usage), "getrusage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double cpu_seconds_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  // The name of the program may hold blanks and brackets; fields are counted from its end.
  const std::string all = text.str();
  const std::size_t name_end = all.rfind(')');
  if (name_end == std::string::npos) fail("no process " + std::to_string(pid));
  std::istringstream fields(all.substr(name_end + 1));
  std::string field;
  constexpr int kFieldsBeforeTimes = 11;
  for (int i = 0; i < kFieldsBeforeTimes; ++i) fields >> field;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Memory memory_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  Memory memory;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kib = 0;
    words >> name >> kib;
    if (name == "VmRSS:") memory.resident = kib * 1024;
    if (name == "VmHWM:") memory.peak = kib * 1024;
    if (name == "RssAnon:") memory.anonymous = kib * 1024;
  }
  if (memory.resident == 0) fail("no memory of process " + std::to_string(pid));
  return memory;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    value_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(value_, -1); }

void Descriptor::reset() {
  if (value_ >= 0) ::close(release());
}

void raise_descriptor_limit() {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

Descriptor listen_on(int port) {
  Descriptor listener(
      checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = address_of("127.0.0.1", port);
  checked(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
          "cannot bind the port");
  checked(::listen(listener.get(), SOMAXCONN), "listen");
  return listener;
}

int port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return ntohs(address.sin_port);
}

Descriptor connect_to(const std::string& host, int port, bool blocking) {
  Descriptor socket(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  const sockaddr_in address = address_of(host, port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail("cannot connect to " + host + ":" + std::to_string(port) + ": " + std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (!blocking) checked(::fcntl(socket.get(), F_SETFL, O_NONBLOCK), "fcntl");
  return socket;
}

Descriptor accept_on(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return socket;
    fail(std::string("accept: ") + std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

Descriptor make_timer() {
  return Descriptor(
      checked(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create"));
}

void set_timer(const Descriptor& timer, std::int64_t at_ns) {
  itimerspec time{};
  at_ns = at_ns > 0 ? at_ns : 1;  // zero would turn it off
  time.it_value.tv_sec = at_ns / kNsPerSecond;
  time.it_value.tv_nsec = at_ns % kNsPerSecond;
  checked(::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &time, nullptr), "timerfd_settime");
}

void drain(const Descriptor& descriptor) {
  signalfd_siginfo scratch{};  // the larger of the two kinds of reading
  while (::read(descriptor.get(), &scratch, sizeof(scratch)) > 0) {
  }
}

Descriptor make_stop_signal() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  checked(::sigprocmask(SIG_BLOCK, &signals, nullptr), "sigprocmask");
  return Descriptor(checked(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd"));
}

Epoll::Epoll() : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")), events_(512) {}

void Epoll::add(int descriptor, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void Epoll::change(int descriptor, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event), "epoll_ctl");
}

std::span<const epoll_event> Epoll::wait() {
  const int count =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1);
  if (count < 0 && errno != EINTR) fail(std::string("epoll_wait: ") + std::strerror(errno));
  return {events_.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
}

Address Address::parse(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  const std::size_t colon = url.rfind(':');
  if (!url.starts_with(kScheme) || colon == std::string::npos || colon < kScheme.size()) {
    fail("'" + url + "' is not http://ADDRESS:PORT");
  }
  Address address{url.substr(kScheme.size(), colon - kScheme.size()), 0};
  char* end = nullptr;
  const long port = std::strtol(url.c_str() + colon + 1, &end, 10);
  if (*end == '/' && end[1] == '\0') ++end;
  if (*end != '\0' || port < 1 || port > 65535) fail("'" + url + "' is not http://ADDRESS:PORT");
  address.port = static_cast<int>(port);
  return address;
}

}  // namespace layard::bench
