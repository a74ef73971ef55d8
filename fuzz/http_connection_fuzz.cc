// Any order of what clients, a handler, time and a stopping server can do: no crash, nothing left
// open, nothing counted twice. Clients and time are the tests' own (tests/support/http_world.h).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/http_world.h"

namespace {

using namespace layard;

void require(bool condition) {
  if (!condition) std::abort();
}

http::ServerOptions small_options() {
  http::ServerOptions options;
  options.head = {.head_bytes_max = 512, .fields_max = 8, .target_bytes_max = 128};
  options.body_bytes_max = 4096;
  options.body_memory_bytes_max = 16 * 1024;
  options.stream_queue_bytes_max = 64;
  options.discard_bytes_max = 16;
  options.idle_ms = 4000;
  options.head_ms = 1000;
  options.body_ms = 2000;
  options.write_ms = 3000;
  options.linger_ms = 500;
  return options;
}

// The input as a script: a byte says what happens, others say how much.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}
  bool done() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  std::string_view bytes(std::size_t count) {
    const auto taken = left_.substr(0, count);
    left_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view left_;
};

class Play {
 public:
  Play() {
    world_.handler.on_admit = [](const http::Request& request) {
      http::Admission admission;
      if (request.path() == "/no") admission.refusal = http::make_response(429, "text/plain", "no");
      return admission;
    };
    clients_.push_back(world_.connect());
  }

  void step(Script& script) {
    const std::uint8_t what = script.byte();
    auto& client = clients_[what / 16 % clients_.size()];
    switch (what % 16) {
      case 8:
        world_.loop.advance_ms(script.byte() * 20);
        break;
      case 9:
        client.take_bytes(script.byte());
        break;
      case 10:
        what / 16 % 2 == 0 ? client.close() : client.reset();
        break;
      case 11:
        if (clients_.size() < 4) {
          clients_.push_back(what / 16 % 4 == 3 ? world_.connect_refused() : world_.connect());
        }
        break;
      case 12:
        if (what / 16 == 15) stop();
        break;
      case 13:
      case 14:
      case 15:
        respond(script);
        break;
      default:
        client.send(script.bytes(script.byte() + std::size_t{1}));
    }
    world_.loop.run();
  }

  void end() {
    world_.handler.responders.clear();
    world_.set.force();
    world_.loop.run();
    require(world_.set.size() == 0);
    require(world_.state.connections == 0 && world_.state.refusing == 0);
    world_.handler.requests.clear();
    const auto counters = world_.counters();
    require(counters.requests_open == 0);
    require(counters.body_memory_bytes == 0);
    require(counters.clients_gone <= counters.connections_accepted + counters.requests + 8);
    for (auto& client : clients_) {
      const std::string sent = client.received();
      require(sent.starts_with(std::string_view("HTTP/1.1 ").substr(0, sent.size())));
    }
  }

 private:
  void stop() {
    world_.state.draining = true;
    world_.set.drain();
  }

  void respond(Script& script) {
    auto& responders = world_.handler.responders;
    if (responders.empty()) return;
    const std::uint8_t how = script.byte();
    auto& responder = responders[how / 8 % responders.size()];
    switch (how % 8) {
      case 0:
        responder.send(http::make_response(200 + how, "text/plain", std::string(how, 'x')));
        break;
      case 1:
        responder.start(http::make_response(200, "text/event-stream", ""));
        break;
      case 2:
      case 3:
        static_cast<void>(responder.write(std::string(how / 4, 'y')));
        break;
      case 4:
        responder.finish();
        break;
      case 5:
        responder.cut();
        break;
      case 6:
        responder.on_writable([] {});
        break;
      default:
        responders.erase(responders.begin() +
                         how / 8 % static_cast<std::ptrdiff_t>(responders.size()));
    }
  }

  testing::HttpWorld world_{small_options()};
  std::vector<testing::FakeClient> clients_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(data, size);
  Play play;
  while (!script.done()) play.step(script);
  play.end();
  return 0;
}
