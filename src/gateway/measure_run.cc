#include "gateway/measure_run.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "gateway/measure_stream.h"
#include "http/client.h"
#include "http/dial.h"
#include "http/loop.h"

namespace layard::gateway {
namespace {

using http::BodyRead;
using http::ClientError;
using http::ClientResponse;
using http::Task;

Error device_failed(const MeasureTarget& target, const std::string& what) {
  return {ErrorCode::kBackendUnavailable,
          "device '" + target.device.name + "' (" + target.upstream.origin() + ") " + what};
}

std::string fault_text(const ClientError& error) {
  return "failed: " + std::string(http::client_fault_name(error.fault)) + ": " + error.message;
}

class Measurement {
 public:
  Measurement(const MeasureSettings& settings, const MeasureProgress& progress,
              const MeasureRoundEnd& round_end, http::SocketLoop& loop)
      : settings_(settings), progress_(progress), round_end_(round_end), loop_(loop) {
    out_.cases = settings.plan.cases;
    for (const MeasureTarget& target : settings.targets) out_.devices.push_back(target.device);
  }

  // Errors: those of make_dialer.
  Status connect() {
    for (const MeasureTarget& target : settings_.targets) {
      LAYARD_ASSIGN(auto dialer, http::make_dialer(loop_, target.tls));
      clients_.push_back(
          std::make_unique<http::Client>(loop_, std::move(dialer), client_options(target)));
    }
    return {};
  }

  // Begins on the loop, which it ends.
  http::Detached run() {
    status_ = co_await all_rounds();
    for (const auto& client : clients_) co_await client->shut_down();
    loop_.finish();
  }

  Result<MeasuredEvidence> take() {
    if (!status_.ok()) return status_.error();
    return std::move(out_);
  }

 private:
  http::ClientOptions client_options(const MeasureTarget& target) const {
    http::ClientOptions out;
    out.connect_ms = target.connect_ms;
    out.head_ms = out.idle_ms = out.total_ms = settings_.request_ms;
    return out;
  }

  Task<Status> all_rounds() {
    int kept = 0;
    for (int round = 1; kept < settings_.rounds && round <= 2 * settings_.rounds; ++round) {
      const std::size_t begin = out_.requests.size();
      const Status done = co_await one_round(round);
      if (!done.ok()) co_return done;
      kept += judge(round, begin) ? 1 : 0;
    }
    co_return Status();
  }

  // Whether the round that began at request `begin` is kept.
  bool judge(int round, std::size_t begin) {
    DiscardedRound worst{round, "", 0};
    const auto requests = std::span(out_.requests).subspan(begin);
    for (const MeasuredDevice& device : out_.devices) {
      const double drift = control_drift(requests, device.name);
      if (worst.device.empty() || drift > worst.drift) worst = {round, device.name, drift};
    }
    const bool kept = worst.drift <= settings_.drift_max;
    if (!kept) out_.discarded.push_back(worst);
    if (round_end_) round_end_(round, worst.drift, kept);
    return kept;
  }

  Task<Status> one_round(int round) {
    const auto steps = round_steps(settings_.plan, settings_.targets.size(), round);
    int position = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const MeasureStep& step = steps[i];
      const MeasurePrompt& prompt = settings_.plan.prompts[step.prompt];
      MeasuredRequest request;
      request.kind = prompt.kind;
      request.class_name = prompt.class_name;
      request.device = settings_.targets[step.device].device.name;
      request.prompt = prompt.id;
      request.round = round;
      const Status done = co_await one_request(step.device, prompt, request);
      if (!done.ok()) co_return done;
      if (step.recorded) {
        request.position = position++;
        out_.requests.push_back(std::move(request));
      }
      if (progress_) progress_(round, i + 1, steps.size());
    }
    co_return Status();
  }

  http::ClientRequest http_request(const MeasureTarget& target, const MeasurePrompt& prompt,
                                   int round) const {
    http::ClientRequest out;
    out.method = "POST";
    out.target = "/v1/chat/completions";
    out.fresh_connection = true;  // a kept one that is just being closed would fail the request
    out.fields.add("Content-Type", "application/json");
    out.fields.add("Accept", "text/event-stream");
    if (!target.api_key.empty()) out.fields.add("Authorization", "Bearer " + target.api_key);
    out.body = chat_body(prompt, round, target.device.model, settings_.seed);
    return out;
  }

  Task<Status> one_request(std::size_t device, const MeasurePrompt& prompt,
                           MeasuredRequest& request) {
    const MeasureTarget& target = settings_.targets[device];
    http::ClientRequest asked = http_request(target, prompt, request.round);
    StreamTimer timer(loop_.now_ns());
    http::ClientResult answer = co_await clients_[device]->send(target.upstream, std::move(asked));
    if (const auto* error = std::get_if<ClientError>(&answer)) {
      co_return Status(device_failed(target, fault_text(*error)));
    }
    ClientResponse& response = std::get<ClientResponse>(answer);
    request.status = response.status;
    if (response.status != 200) {
      co_return Status(
          device_failed(target, "answered with status " + std::to_string(response.status)));
    }
    while (true) {
      const BodyRead piece = co_await response.read();
      if (piece.state == BodyRead::State::kFailed) {
        co_return Status(device_failed(target, fault_text(piece.error)));
      }
      if (piece.state == BodyRead::State::kEnd) break;
      timer.feed(piece.bytes, loop_.now_ns());
    }
    timer.finish(loop_.now_ns());
    const Status read = timer.result(request);
    if (!read.ok()) co_return Status(device_failed(target, read.error().message));
    co_return Status();
  }

  const MeasureSettings& settings_;
  const MeasureProgress& progress_;
  const MeasureRoundEnd& round_end_;
  http::SocketLoop& loop_;
  std::vector<std::unique_ptr<http::Client>> clients_;
  MeasuredEvidence out_;
  Status status_;
};

}  // namespace

Result<MeasuredEvidence> run_measurement(const MeasureSettings& settings,
                                         const MeasureProgress& progress,
                                         const MeasureRoundEnd& round_end) {
  const std::size_t steps = round_steps(settings.plan, settings.targets.size(), 1).size();
  const auto rounds = static_cast<std::size_t>(std::max(settings.rounds, 1));
  if (settings.rounds < 1 || 2 * settings.rounds > kMeasuredRoundsMax ||
      steps > kMeasuredRequestsMax / (2 * rounds)) {
    return Error{ErrorCode::kInvalidRequest,
                 std::to_string(settings.rounds) + " rounds of " + std::to_string(steps) +
                     " requests are more than a file of evidence holds: fewer rounds, devices or "
                     "cases"};
  }
  const auto loop = http::SocketLoop::create();
  Measurement measurement(settings, progress, round_end, *loop);
  LAYARD_TRY(measurement.connect());
  loop->post([&] { measurement.run(); });
  loop->run();
  return measurement.take();
}

}  // namespace layard::gateway
