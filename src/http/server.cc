#include "http/server.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "http/connection_set.h"
#include "http/loop.h"
#include "http/server_state.h"

namespace layard::http {
namespace {

class RunningServer final : public Server {
 public:
  RunningServer(const ServerOptions& options, Handler& handler) : state_(options, handler) {
    for (unsigned i = 0; i < options.io_threads; ++i) {
      auto shard = std::make_unique<Shard>();
      shard->loop = SocketLoop::create();
      shard->connections = std::make_unique<ConnectionSet>(
          state_, *shard->loop, [this, loop = shard->loop.get()] { end(*loop); });
      shards_.push_back(std::move(shard));
    }
  }

  ~RunningServer() override {
    stop();
    stop();
    wait();
    for (auto& shard : shards_) {
      if (shard->thread.joinable()) shard->thread.join();
    }
  }

  Status open() {
    AcceptOptions accepting;
    accepting.host = state_.options.host;
    accepting.port = state_.options.port;
    for (auto& shard : shards_) accepting.loops.push_back(shard->loop.get());
    accepting.on_accept = [this](std::size_t index, std::unique_ptr<Stream> stream) {
      accepted(*shards_[index], std::move(stream));
    };
    accepting.on_error = [this] { ++state_.counters.accept_errors; };
    LAYARD_ASSIGN(listener_, listen(std::move(accepting)));
    port_ = listener_->port();
    for (auto& shard : shards_) LAYARD_TRY(start_thread(*shard));
    return {};
  }

  unsigned port() const override { return port_; }

  void stop() override {
    const bool again = state_.draining.exchange(true);
    if (again) {
      force();
      return;
    }
    // First no more connections: one that is handed to a loop which has ended would be answered by
    // nobody, and closed by nobody.
    shards_[0]->loop->post([this] {
      listener_.reset();
      for (auto& shard : shards_) {
        shard->loop->post([this, at = shard.get()] {
          // Before draining, which may end the loop.
          at->loop->call_after(state_.options.drain_ms, [at] { at->connections->force(); });
          at->connections->drain();
        });
      }
    });
  }

  void wait() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return running_ == 0; });
  }

  Counters counters() const override { return state_.snapshot(); }

 private:
  struct Shard {
    std::unique_ptr<SocketLoop> loop;
    std::unique_ptr<ConnectionSet> connections;  // goes before its loop
    std::thread thread;
  };

  Status start_thread(Shard& shard) {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    try {
      shard.thread = std::thread([this, loop = shard.loop.get()] { run(*loop); });
    } catch (const std::system_error& error) {
      const std::lock_guard lock(mutex_);
      --running_;
      return Error{ErrorCode::kIo, std::string("cannot start a thread: ") + error.what()};
    }
    return {};
  }

  // The last connection is gone.
  void end(SocketLoop& loop) {
    try {
      state_.handler.loop_ends(loop, [&loop] { loop.finish(); });
    } catch (...) {
      loop.finish();
    }
  }

  void run(SocketLoop& loop) {
    // Before anything else that is posted: in particular before the first connection.
    for (bool begun = false, running = true; running;) {
      try {
        if (!std::exchange(begun, true)) state_.handler.loop_begins(loop);
        loop.run();
        running = false;
      } catch (...) {
        // One call ran out of memory; the loop goes on with the next.
      }
    }
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  void force() {
    for (auto& shard : shards_) {
      shard->loop->post([connections = shard->connections.get()] { connections->force(); });
    }
  }

  // On the accepting thread: counts the connection and hands it to its own.
  void accepted(Shard& shard, std::unique_ptr<Stream> stream) {
    ++state_.counters.connections_accepted;
    const ServerOptions& options = state_.options;
    const bool serve = state_.connections < options.connections_max;
    if (!serve && state_.refusing >= options.connections_refusing_max) {
      state_.counters.count_refusal(RefusalReason::kConnections);
      return;  // closed by its destructor
    }
    ++(serve ? state_.connections : state_.refusing);
    auto carried = std::make_shared<std::unique_ptr<Stream>>(std::move(stream));
    shard.loop->post([connections = shard.connections.get(), carried, serve] {
      if (serve) {
        connections->serve(std::move(*carried));
      } else {
        connections->refuse(std::move(*carried));
      }
    });
  }

  ServerState state_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Listener> listener_;
  unsigned port_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler& handler) {
  LAYARD_TRY(check_options(options));
  auto server = std::make_unique<RunningServer>(options, handler);
  LAYARD_TRY(server->open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace layard::http
