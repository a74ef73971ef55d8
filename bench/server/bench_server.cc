// The server beside the library in one run (bench/server/run.py drives it). No text is asked twice.
//   bench_server latency PORT MODEL COUNT   one connection and the library in turn: times of both
//   bench_server load PORT CONNECTIONS COUNT [FIRST MODEL]   so many connections at once: requests
//   per
//       second; FIRST: the number of the first text; MODEL: who is asked, else the server's own
//   bench_server texts COUNT                the requests of `load` as lines for `predict --batch`
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "layard/model.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kQuestions =
    R"({"refund":{"type":"noul","instructions":"Does the customer request a refund?"}})";

std::string text_of(const char* series, int index) {
  static constexpr std::array<const char*, 8> kWords = {"order",   "money",  "parcel", "invoice",
                                                        "account", "ticket", "return", "price"};
  std::string text = std::string(series) + " " + std::to_string(index) + ":";
  for (int i = 0; i < 24; ++i) {
    text += std::string(" ") + kWords[static_cast<std::size_t>(index + i * i) % kWords.size()];
  }
  return text;
}

// `model`: empty: the server's own.
std::string body_of(const std::string& text, const std::string& model) {
  const std::string named = model.empty() ? "" : "\"model\":\"" + model + "\",";
  return "{" + named + "\"state\":\"" + text + "\",\"questions\":" + kQuestions + "}";
}

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "bench_server: " << text << "\n";
  std::exit(2);
}

// One keep-alive connection.
class Connection {
 public:
  explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      fail("cannot connect");
    }
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  /// The body of a 200.
  std::string ask(const std::string& body) {
    const std::string request =
        "POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      fail("the server is gone");
    }
    std::string got;
    std::size_t end = std::string::npos;
    std::size_t length = 0;
    while (end == std::string::npos || got.size() < end + length) {
      std::array<char, 16384> piece;
      const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
      if (count <= 0) fail("the server closed the connection");
      got.append(piece.data(), static_cast<std::size_t>(count));
      if (end != std::string::npos) continue;
      end = got.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      end += 4;
      std::string head = got.substr(0, end);
      for (char& c : head) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const std::size_t at = head.find("content-length: ");
      if (at == std::string::npos) fail("an answer without a length");
      length = std::strtoul(got.c_str() + at + std::strlen("Content-Length: "), nullptr, 10);
    }
    if (!got.starts_with("HTTP/1.1 200 ")) fail(got.substr(0, 400));
    return got.substr(end);
  }

 private:
  int socket_;
};

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_times(const char* name, const std::vector<double>& values) {
  std::cout << "\"" << name << "\": {\"p50_ms\": " << percentile(values, .5)
            << ", \"p90_ms\": " << percentile(values, .9)
            << ", \"p99_ms\": " << percentile(values, .99) << "}";
}

int latency(int port, const std::string& name, int count) {
  layard::ModelOptions options;
  options.environment = layard::Environment::from_process().value();
  options.model = name;
  const auto model = layard::Model::open(options).value();
  const layard::QuestionSet questions = layard::parse_questions(kQuestions, {}).value();
  Connection connection(port);
  std::vector<double> direct;
  std::vector<double> served;
  const int warm = std::max(10, count / 10);
  for (int i = 0; i < count + warm; ++i) {
    layard::State state;
    state.text = text_of("direct", i);
    const auto began = Clock::now();
    (void)model->predict(state, questions, {}).value();
    const auto between = Clock::now();
    const std::string body = body_of(text_of("served", i), "");
    const auto sent = Clock::now();
    connection.ask(body);
    const auto ended = Clock::now();
    if (i < warm) continue;
    direct.push_back(milliseconds(between - began));
    served.push_back(milliseconds(ended - sent));
  }
  std::cout << "{";
  print_times("in_process", direct);
  std::cout << ", ";
  print_times("served", served);
  std::cout << ", \"added_p50_ms\": " << percentile(served, .5) - percentile(direct, .5) << "}\n";
  return 0;
}

struct Load {
  int port = 0;
  int connections = 1;
  int count = 0;
  int first = 0;  // the number of the first text
  std::string model;
};

int load(const Load& wanted) {
  std::atomic<int> next = 0;
  std::vector<std::vector<double>> times(static_cast<std::size_t>(wanted.connections));
  const auto began = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (auto& mine : times) {
      threads.emplace_back([&next, &mine, &wanted] {
        Connection connection(wanted.port);
        for (int i = next++; i < wanted.count; i = next++) {
          const auto sent = Clock::now();
          connection.ask(body_of(text_of("load", wanted.first + i), wanted.model));
          mine.push_back(milliseconds(Clock::now() - sent));
        }
      });
    }
  }
  const double seconds = milliseconds(Clock::now() - began) / 1e3;
  std::vector<double> all;
  for (const auto& mine : times) all.insert(all.end(), mine.begin(), mine.end());
  std::cout << "{\"requests_per_s\": " << wanted.count / seconds << ", ";
  print_times("served", all);
  std::cout << "}\n";
  return 0;
}

int texts(int count) {
  for (int i = 0; i < count; ++i) std::cout << body_of(text_of("load", i), "") << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "latency") {
    return latency(std::stoi(words[1]), words[2], std::stoi(words[3]));
  }
  if ((words.size() == 4 || words.size() == 6) && words[0] == "load") {
    const bool is_named = words.size() == 6;
    return load({std::stoi(words[1]), std::stoi(words[2]), std::stoi(words[3]),
                 is_named ? std::stoi(words[4]) : 0, is_named ? words[5] : ""});
  }
  if (words.size() == 2 && words[0] == "texts") return texts(std::stoi(words[1]));
  fail("usage: latency PORT MODEL COUNT | load PORT CONNECTIONS COUNT [FIRST MODEL] | texts COUNT");
}
