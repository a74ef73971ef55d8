#include "layard/service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/sha256.h"
#include "runtime/answer_cache.h"
#include "runtime/calibration_override.h"
#include "runtime/engine.h"
#include "runtime/golden_self_test.h"
#include "runtime/model_pool.h"
#include "runtime/served_names.h"
#include "runtime/service_hook.h"
#include "runtime/service_options.h"
#include "scheduler/scheduler.h"

namespace layard {
namespace {

// Work that takes longer than expected leaves an estimate of nothing: nobody is to come back in a
// tight loop for that.
constexpr std::int64_t kRetryAfterMsMin = 10;
constexpr std::int64_t kRetryAfterMsMax = 60'000;

using runtime::PooledModelPtr;
using runtime::ServiceStep;
using scheduler::Ending;

// One request from submit() to the call of its `done`.
struct Pending {
  DecisionService::Ticket ticket = 0;
  ServiceRequest request;
  DecisionService::Done done;
  Route route;
  double start_ms = 0;
  std::optional<std::int64_t> deadline_ns;
  runtime::DecisionJob job;
  std::vector<std::string> keys;  // of the job's rows, when the answer cache is on
  std::shared_ptr<struct Flight> flight;
  bool running = false;
};
using PendingPtr = std::shared_ptr<Pending>;

// Rows on their way through the scheduler, and everybody who waits for just these.
struct Flight {
  std::string key;    // of all rows together; empty when the answer cache is off
  PendingPtr leader;  // whose job is run, also when it was cancelled meanwhile
  std::vector<PendingPtr> waiters;
  PooledModelPtr model;
  std::optional<scheduler::JobId> job;
  double backlog_ms = 0;  // in front of it when it was queued
};
using FlightPtr = std::shared_ptr<Flight>;

struct FlightPayload final : scheduler::Payload {
  explicit FlightPayload(FlightPtr f) : flight(std::move(f)) {}
  FlightPtr flight;
};

enum class End : std::uint8_t { kCompleted, kFailed, kCancelled, kExpired, kRefused };

std::int64_t tokens_of(const runtime::DecisionJob& job) {
  std::int64_t tokens = 0;
  for (const std::size_t row : job.pending) {
    tokens += static_cast<std::int64_t>(job.rows[row].ids.size());
  }
  return tokens;
}

// One caller is one place in the queue; equal names must give equal numbers, that is all.
scheduler::ClientId client_id(const std::string& client) {
  return std::hash<std::string>()(client);
}

void begin_step(ServiceStep step, const Request& request) {
  if (const auto& hook = runtime::service_hook()) hook(step, request);
}

// Within a `catch`.
Error thrown_error(const char* doing) {
  try {
    throw;
  } catch (const std::exception& error) {
    return {ErrorCode::kInternal, std::string(doing) + " ended with an exception: " + error.what()};
  } catch (...) {
    return {ErrorCode::kInternal, std::string(doing) + " ended with an unknown exception"};
  }
}

Error draining_error() {
  return {ErrorCode::kCancelled, "the service is draining and takes no further requests"};
}

scheduler::DeviceOptions device_options(const ServiceOptions& options) {
  scheduler::DeviceOptions device;
  device.name = "cpu";
  device.queue_jobs_max = options.queue_requests_max;
  device.queue_cost_max = options.queue_tokens_max;
  device.client_jobs_max = std::max<std::size_t>(1, options.queue_requests_max / 2);
  device.batch_cost_max = options.batch_tokens_max;
  device.batch_jobs_max = options.batch_requests_max;
  return device;
}

}  // namespace

struct DecisionService::Impl {
  ServiceOptions options;
  runtime::ServedNames names;
  base::Clock& clock = base::real_clock();
  runtime::AnswerCache cache;
  std::atomic<std::uint64_t> models_loaded = 0;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable none_left;
  std::unordered_map<Ticket, PendingPtr> live;
  std::unordered_map<std::string, FlightPtr> flights;  // by key
  Ticket last_ticket = 0;
  bool draining = false;
  double drain_until_ms = std::numeric_limits<double>::infinity();
  ServiceStats counts;

  // Destroyed first, in this order: no call comes back into what is above after that.
  std::unique_ptr<scheduler::Scheduler> scheduler;
  scheduler::DeviceId device = 0;
  std::unique_ptr<runtime::ModelPool> pool;

  Impl(const ServiceOptions& o, runtime::ServedNames n)
      : options(o), names(std::move(n)), cache(o.answer_cache_bytes_max) {}

  Status start();
  Result<PooledModelPtr> load(const std::string& name);

  Ticket submit(ServiceRequest request, Done done);
  void acquire(const PendingPtr& pending);
  void on_model(const PendingPtr& pending, const Result<PooledModelPtr>& model);
  void take_cached(Pending& pending);
  void enqueue(const PendingPtr& pending, const PooledModelPtr& model);
  bool join_flight(const PendingPtr& pending, const std::string& key);
  void dispatch(const FlightPtr& flight);
  void queue_up(const FlightPtr& flight);
  Status run(std::span<scheduler::BatchJob> jobs);
  // Under the lock: nobody joins it any more.
  void forget(const Flight& flight) {
    const auto found = flights.find(flight.key);
    if (found != flights.end() && found->second.get() == &flight) flights.erase(found);
  }
  void on_outcome(const FlightPtr& flight, const scheduler::Outcome& outcome);
  void keep_answers(const Pending& leader);
  void answer(const PendingPtr& pending, const Flight& flight, const scheduler::Outcome* outcome);
  void finish(const PendingPtr& pending, End end, Result<ServiceAnswer> result);
  void fail(const PendingPtr& pending, End end, Error error) {
    finish(pending, end, Result<ServiceAnswer>(std::move(error)));
  }
  // What a step throws, for want of memory say, is that request's failure: it is told, and its
  // place in the queue is free again.
  template <typename Step>
  void attempt(const PendingPtr& pending, const char* doing, const Step& step) {
    try {
      step();
    } catch (...) {
      fail(pending, End::kFailed, thrown_error(doing));
    }
  }
  void cancel(Ticket ticket);
  bool drain(double bound_ms);
};

Status DecisionService::Impl::start() {
  runtime::ModelPoolOptions pool_options;
  pool_options.loaded_bytes_max = options.loaded_bytes_max;
  pool_options.idle_unload_s = options.idle_unload_s;
  pool_options.clock = &clock;
  pool_options.load = [this](const std::string& name) { return load(name); };
  std::vector<std::string> targets;
  for (const runtime::RouteTarget& target : names.targets()) targets.push_back(target.name);
  scheduler = std::make_unique<scheduler::Scheduler>(scheduler::SchedulerOptions{.clock = &clock});
  LAYARD_ASSIGN(device,
                scheduler->add_device(device_options(options),
                                      [this](std::span<scheduler::BatchJob> jobs,
                                             const std::stop_token&) { return run(jobs); }));
  pool = std::make_unique<runtime::ModelPool>(std::move(targets), std::move(pool_options));
  for (const std::size_t index : names.preloaded()) LAYARD_TRY(pool->preload(index));
  return {};
}

// On the pool's thread. Only what the operator named may be fetched.
Result<PooledModelPtr> DecisionService::Impl::load(const std::string& name) {
  ModelOptions model = options.checkpoints;
  model.model = name;
  // It belongs to the weights of the service's own model.
  const auto own = names.default_index();
  if (!own || names.targets()[*own].name != name) model.calibration_file.clear();
  const auto named = std::ranges::any_of(
      names.preloaded(), [&](std::size_t index) { return names.targets()[index].name == name; });
  if (!named) model.local_files_only = true;
  if (!named && !options.load_on_demand) {
    return Error{ErrorCode::kBackendUnavailable,
                 "model " + name + " is not loaded on this server, which loads none on demand"};
  }
  auto pooled = std::make_shared<runtime::PooledModel>();
  LAYARD_ASSIGN(pooled->engine, runtime::Engine::open(model));
  LAYARD_ASSIGN(pooled->model, pooled->engine->ensure_loaded());
  const runtime::LoadedModel& loaded = *pooled->model;
  LAYARD_TRY(runtime::golden_self_test(
      loaded, [&](std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
        return pooled->engine->run_rows(*pooled->model, rows, outputs);
      }));
  pooled->engine->warn_about_format(loaded);
  pooled->number = ++models_loaded;
  pooled->result_key = loaded.identity().weights_sha256 + ":" + loaded.dtype() + ":" +
                       std::string(loaded.isa()) + (model.tie_recheck ? ":rechecked" : "");
  std::error_code ignored;
  const auto weights = std::filesystem::path(loaded.identity().folder) / "model.safetensors";
  const std::uintmax_t bytes = std::filesystem::file_size(weights, ignored);
  pooled->bytes = ignored ? 0 : bytes;
  pooled->encoder =
      loaded.encoder_config().family == encoder::EncoderFamily::kBert ? "bert" : "modernbert";
  pooled->max_length = loaded.tools().spec.max_len;
  return PooledModelPtr(std::move(pooled));
}

DecisionService::Ticket DecisionService::Impl::submit(ServiceRequest request, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->request = std::move(request);
  pending->done = std::move(done);
  pending->start_ms = clock.now_ms();
  if (const auto& deadline_ms = pending->request.deadline_ms) {
    pending->deadline_ns = clock.now_ns() + static_cast<std::int64_t>(*deadline_ms * 1e6);
  }
  bool refused = false;
  bool full = false;
  {
    const std::lock_guard lock(mutex);
    pending->ticket = ++last_ticket;
    ++counts.submitted;
    refused = draining;
    full = counts.queued >= options.queue_requests_max;
    live.emplace(pending->ticket, pending);
    ++counts.queued;
  }
  const Ticket ticket = pending->ticket;
  if (refused) {
    fail(pending, End::kCancelled, draining_error());
    return ticket;
  }
  if (full) {
    fail(pending, End::kRefused,
         {ErrorCode::kOverloaded, std::to_string(options.queue_requests_max) +
                                      " requests are queued, which is the bound; try again later"});
    return ticket;
  }
  attempt(pending, "choosing a checkpoint", [&] { acquire(pending); });
  return ticket;
}

void DecisionService::Impl::acquire(const PendingPtr& pending) {
  auto route = names.route(pending->request.request);
  if (!route.ok()) {
    fail(pending, End::kFailed, route.error());
    return;
  }
  pending->route = std::move(route->route);
  // The route says who answers, so no warning has to.
  pending->request.request.model.reset();
  if (pending->request.request.questions.questions.empty()) {
    ServiceAnswer answer;
    answer.prediction.runtime.model = pending->route.checkpoint;
    answer.prediction.runtime.routing_reason = "no_questions";
    runtime::add_request_warnings(pending->request.request, answer.prediction.answers);
    finish(pending, End::kCompleted, std::move(answer));
    return;
  }
  pool->acquire(route->index, [this, pending](const Result<PooledModelPtr>& model) {
    attempt(pending, "preparing the request", [&] { on_model(pending, model); });
  });
}

void DecisionService::Impl::on_model(const PendingPtr& pending,
                                     const Result<PooledModelPtr>& model) {
  if (!model.ok()) {
    const bool cancelled = model.error().code == ErrorCode::kCancelled;
    fail(pending, cancelled ? End::kCancelled : End::kFailed, model.error());
    return;
  }
  begin_step(ServiceStep::kPrepare, pending->request.request);
  runtime::DecisionJob& job = pending->job;
  job.request = &pending->request.request;
  job.layout = {pending->request.options.overflow, pending->request.options.orders};
  runtime::Engine::prepare(*(*model)->model, job);
  if (job.error.has_value()) {
    fail(pending, End::kFailed, *job.error);
    return;
  }
  if (cache.is_on()) {
    for (const encoder::ModelRow& row : job.rows) {
      pending->keys.push_back(runtime::row_key((*model)->result_key, row));
    }
  }
  enqueue(pending, *model);
}

// Under the lock: an equal request that ends meanwhile is either found here or still in flight.
void DecisionService::Impl::take_cached(Pending& pending) {
  runtime::DecisionJob& job = pending.job;
  std::vector<std::size_t> missing;
  for (std::size_t row = 0; row < job.rows.size(); ++row) {
    auto found = cache.find(pending.keys[row]);
    if (!found.has_value()) {
      missing.push_back(row);
      continue;
    }
    job.outputs[row] = std::move(found->output);
    job.rechecked[row] = found->rechecked ? 1 : 0;
  }
  job.pending = std::move(missing);
}

void DecisionService::Impl::enqueue(const PendingPtr& pending, const PooledModelPtr& model) {
  auto flight = std::make_shared<Flight>();
  flight->leader = pending;
  flight->model = model;
  // Equal in all rows, also those that the cache had: who waits along takes all outputs.
  if (cache.is_on()) {
    base::Sha256 key;
    for (const std::string& row : pending->keys) key.update(row);
    flight->key = key.hex();
  }
  {
    const std::lock_guard lock(mutex);
    if (!live.contains(pending->ticket)) return;  // cancelled while it waited for its checkpoint
    if (cache.is_on()) take_cached(*pending);
    if (!pending->job.pending.empty()) {
      if (cache.is_on()) {
        if (join_flight(pending, flight->key)) return;
        flights[flight->key] = flight;
      }
      flight->waiters.push_back(pending);
      pending->flight = flight;
    }
  }
  if (pending->job.pending.empty()) {
    answer(pending, *flight, nullptr);
  } else {
    dispatch(flight);
  }
}

// Under the lock. An equal request waits along, unless the queue could drop the first before the
// second has had its time.
bool DecisionService::Impl::join_flight(const PendingPtr& pending, const std::string& key) {
  const auto found = flights.find(key);
  if (found == flights.end()) return false;
  Flight& flight = *found->second;
  const auto& first = flight.leader->deadline_ns;
  const bool outlasts =
      !first.has_value() || (pending->deadline_ns.has_value() && *pending->deadline_ns <= *first);
  if (!outlasts || flight.waiters.empty()) return false;
  flight.waiters.push_back(pending);
  pending->flight = found->second;
  if (flight.leader->running) {
    pending->running = true;
    --counts.queued;
    ++counts.running;
  }
  return true;
}

// Whoever has joined it meanwhile fails with it.
void DecisionService::Impl::dispatch(const FlightPtr& flight) {
  try {
    queue_up(flight);
  } catch (...) {
    scheduler::Outcome outcome;
    outcome.ending = Ending::kFailed;
    outcome.error = thrown_error("queueing the request");
    on_outcome(flight, outcome);
  }
}

void DecisionService::Impl::queue_up(const FlightPtr& flight) {
  const Pending& leader = *flight->leader;
  scheduler::JobSpec spec;
  spec.client = client_id(leader.request.client);
  spec.key = flight->model->number;
  spec.cost = std::clamp<std::int64_t>(tokens_of(leader.job), 1, options.queue_tokens_max);
  spec.deadline_ns = leader.deadline_ns;
  flight->backlog_ms = scheduler->queue(device).backlog_ms;
  scheduler::Admission admission = scheduler->submit(
      device, spec, std::make_unique<FlightPayload>(flight),
      [this, flight](const scheduler::Outcome& outcome) { on_outcome(flight, outcome); });
  if (const auto* refusal = std::get_if<scheduler::Refusal>(&admission)) {
    scheduler::Outcome outcome;
    outcome.ending = Ending::kFailed;
    outcome.error = refusal->error;
    if (refusal->reason == scheduler::RefusalReason::kClosed) outcome.error = draining_error();
    on_outcome(flight, outcome);
    return;
  }
  bool abandoned = false;
  {
    const std::lock_guard lock(mutex);
    flight->job = std::get<scheduler::JobId>(admission);
    abandoned = flight->waiters.empty();
  }
  if (abandoned) scheduler->cancel(*flight->job);
}

Status DecisionService::Impl::run(std::span<scheduler::BatchJob> jobs) {
  std::vector<runtime::DecisionJob*> work;
  FlightPtr first;
  {
    const std::lock_guard lock(mutex);
    for (scheduler::BatchJob& job : jobs) {
      const FlightPtr& flight = static_cast<FlightPayload*>(job.payload)->flight;
      if (first == nullptr) first = flight;
      work.push_back(&flight->leader->job);
      flight->leader->running = true;
      for (const PendingPtr& waiter : flight->waiters) {
        waiter->running = true;
        --counts.queued;
        ++counts.running;
      }
      counts.rows += flight->leader->job.pending.size();
      counts.tokens += static_cast<std::uint64_t>(tokens_of(flight->leader->job));
    }
    ++counts.batches;
  }
  for (const runtime::DecisionJob* job : work) begin_step(ServiceStep::kForwardPass, *job->request);
  first->model->engine->run(*first->model->model, work);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].error = work[i]->error;
  return {};
}

void DecisionService::Impl::on_outcome(const FlightPtr& flight, const scheduler::Outcome& outcome) {
  // Before nobody can join it any more: an equal request finds the one or the other.
  if (!outcome.error.has_value() && cache.is_on()) keep_answers(*flight->leader);
  std::vector<PendingPtr> waiters;
  {
    const std::lock_guard lock(mutex);
    waiters = std::exchange(flight->waiters, {});
    forget(*flight);
  }
  if (outcome.error.has_value()) {
    End end = End::kFailed;
    Error error = *outcome.error;
    if (error.code == ErrorCode::kOverloaded) end = End::kRefused;
    if (outcome.ending == Ending::kExpired) end = End::kExpired;
    if (outcome.ending == Ending::kCancelled || outcome.ending == Ending::kClosed) {
      end = End::kCancelled;
      error.code = ErrorCode::kCancelled;
    }
    for (const PendingPtr& waiter : waiters) fail(waiter, end, error);
    return;
  }
  for (const PendingPtr& waiter : waiters) {
    attempt(waiter, "making the answer", [&] { answer(waiter, *flight, &outcome); });
  }
}

void DecisionService::Impl::keep_answers(const Pending& leader) {
  const runtime::DecisionJob& job = leader.job;
  try {
    for (const std::size_t row : job.pending) {
      cache.insert(leader.keys[row], {job.outputs[row], job.rechecked[row] != 0});
    }
  } catch (...) {
    // Without memory to keep them they are answers all the same.
  }
}

// `outcome`: of the forward pass; null when every row came from the cache.
void DecisionService::Impl::answer(const PendingPtr& pending, const Flight& flight,
                                   const scheduler::Outcome* outcome) {
  begin_step(ServiceStep::kAnswer, pending->request.request);
  runtime::DecisionJob& job = pending->job;
  const bool waited_along = pending != flight.leader;
  if (waited_along) {
    job.outputs = flight.leader->job.outputs;
    job.rechecked = flight.leader->job.rechecked;
    job.device_ms = flight.leader->job.device_ms;
  }
  auto prediction =
      flight.model->engine->finish(*flight.model->model, job, pending->request.options.raw);
  if (!prediction.ok()) {
    fail(pending, End::kFailed, prediction.error());
    return;
  }
  RuntimeInfo& info = prediction->runtime;
  info.execution = "workers";
  if (outcome != nullptr) {
    info.queue_wait_ms = outcome->times.queue_wait_ms();
    info.cpu_backlog_ms = flight.backlog_ms;
  }
  ServiceAnswer answer;
  answer.cached = outcome == nullptr || waited_along;
  answer.prediction = *std::move(prediction);
  finish(pending, End::kCompleted, std::move(answer));
}

void DecisionService::Impl::finish(const PendingPtr& pending, End end,
                                   Result<ServiceAnswer> result) {
  if (result.ok()) {
    RuntimeInfo& info = result->prediction.runtime;
    info.request_id = runtime::next_request_id();
    info.latency_ms = clock.now_ms() - pending->start_ms;
    if (!pending->route.model_routing.empty()) info.model_routing = pending->route.model_routing;
    result->prediction.answers.extra.push_back({"routing", print_route(pending->route)});
    result->route = pending->route;
  }
  {
    const std::lock_guard lock(mutex);
    if (live.erase(pending->ticket) == 0) return;  // it was cancelled first
    --(pending->running ? counts.running : counts.queued);
    ++(end == End::kCompleted   ? counts.completed
       : end == End::kFailed    ? counts.failed
       : end == End::kCancelled ? counts.cancelled
       : end == End::kExpired   ? counts.expired
                                : counts.refused);
    if (result.ok() && result->cached) ++counts.cached;
    if (live.empty()) none_left.notify_all();
  }
  pending->flight.reset();
  const Done done = std::move(pending->done);
  try {
    done(std::move(result));
  } catch (...) {
    // Its caller's to mend, who is told by its end; those who waited along are not to suffer.
  }
}

void DecisionService::Impl::cancel(Ticket ticket) {
  PendingPtr pending;
  std::optional<scheduler::JobId> abandoned;
  {
    const std::lock_guard lock(mutex);
    const auto found = live.find(ticket);
    if (found == live.end() || found->second->running) return;
    pending = found->second;
    if (const FlightPtr flight = pending->flight; flight != nullptr) {
      std::erase(flight->waiters, pending);
      if (flight->waiters.empty()) {
        abandoned = flight->job;
        forget(*flight);
      }
    }
  }
  fail(pending, End::kCancelled, {ErrorCode::kCancelled, "the request was cancelled"});
  if (abandoned.has_value()) scheduler->cancel(*abandoned);
}

bool DecisionService::Impl::drain(double bound_ms) {
  std::unique_lock lock(mutex);
  draining = true;
  drain_until_ms = std::min(drain_until_ms, clock.now_ms() + std::max(0.0, bound_ms));
  none_left.notify_all();  // who waits already learns of the smaller bound
  while (!live.empty() && clock.now_ms() < drain_until_ms) {
    const double left_ms = std::min(drain_until_ms - clock.now_ms(), 1000.0);
    none_left.wait_for(lock, std::chrono::duration<double, std::milli>(left_ms));
  }
  const bool finished = live.empty();
  lock.unlock();
  if (pool != nullptr) pool->close();
  if (scheduler != nullptr) scheduler->close(0);
  return finished;
}

std::string_view to_string(ServedModel::State state) {
  switch (state) {
    case ServedModel::State::kUnloaded:
      return "unloaded";
    case ServedModel::State::kLoading:
      return "loading";
    case ServedModel::State::kReady:
      return "ready";
    case ServedModel::State::kFailed:
      return "failed";
  }
  return "unloaded";
}

DecisionService::DecisionService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DecisionService::~DecisionService() { drain(0); }

Result<std::unique_ptr<DecisionService>> DecisionService::open(const ServiceOptions& options) {
  LAYARD_TRY(runtime::check_service_options(options));
  LAYARD_TRY(runtime::check_one_calibration(options.checkpoints.calibration_file, options.model));
  LAYARD_ASSIGN(runtime::ServedNames names, runtime::ServedNames::open(options));
  auto impl = std::make_unique<Impl>(options, std::move(names));
  std::unique_ptr<DecisionService> service(new DecisionService(std::move(impl)));
  LAYARD_TRY(service->impl_->start());
  return service;
}

DecisionService::Ticket DecisionService::submit(ServiceRequest request, Done done) {
  return impl_->submit(std::move(request), std::move(done));
}

void DecisionService::cancel(Ticket ticket) { impl_->cancel(ticket); }

bool DecisionService::has_room() const {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->draining || impl_->counts.queued >= impl_->options.queue_requests_max) return false;
  }
  return !impl_->scheduler->check(impl_->device, {}).has_value();
}

std::int64_t DecisionService::retry_after_ms() const {
  const double backlog_ms = impl_->scheduler->queue(impl_->device).backlog_ms;
  return std::clamp(static_cast<std::int64_t>(backlog_ms / 2), kRetryAfterMsMin, kRetryAfterMsMax);
}

Result<Route> DecisionService::route(const Request& request) const {
  LAYARD_ASSIGN(runtime::ServedRoute found, impl_->names.route(request));
  return std::move(found.route);
}

std::vector<ServedModel> DecisionService::models() const {
  std::vector<ServedModel> models;
  const runtime::ServedNames& names = impl_->names;
  for (std::size_t i = 0; i < names.targets().size(); ++i) {
    const runtime::RouteTarget& target = names.targets()[i];
    const runtime::ModelPool::Slot slot = impl_->pool->slot(i);
    ServedModel model;
    model.name = target.name;
    model.repo = target.repo.value_or("");
    model.revision = target.revision.value_or("");
    model.is_default = names.default_index() == i;
    model.is_preloaded = std::ranges::count(names.preloaded(), i) > 0;
    model.state = slot.state;
    model.error = slot.error;
    if (slot.model != nullptr) {
      model.encoder = slot.model->encoder;
      model.max_length = slot.model->max_length;
      model.revision = slot.model->model->identity().revision;
    }
    models.push_back(std::move(model));
  }
  std::ranges::sort(models, [](const ServedModel& a, const ServedModel& b) {
    return std::pair(!a.is_default, std::string_view(a.name)) <
           std::pair(!b.is_default, std::string_view(b.name));
  });
  return models;
}

bool DecisionService::is_ready() const {
  return std::ranges::all_of(models(), [](const ServedModel& model) {
    return !model.is_preloaded || model.state == ServedModel::State::kReady ||
           model.state == ServedModel::State::kUnloaded;
  });
}

ServiceStats DecisionService::stats() const {
  const scheduler::DeviceMetrics metrics = impl_->scheduler->metrics()[impl_->device];
  ServiceStats stats;
  {
    const std::lock_guard lock(impl_->mutex);
    stats = impl_->counts;
  }
  stats.cache_bytes = impl_->cache.bytes();
  stats.queued_tokens = metrics.queued_cost;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < metrics.queue_wait.buckets.size(); ++i) {
    total += metrics.queue_wait.buckets[i];
    const bool last = i == scheduler::WaitHistogram::kBoundsMs.size();
    stats.queue_wait_s.emplace_back(last ? std::numeric_limits<double>::infinity()
                                         : scheduler::WaitHistogram::kBoundsMs[i] / 1e3,
                                    total);
  }
  stats.queue_wait_s_sum = metrics.queue_wait.sum_ms / 1e3;
  return stats;
}

bool DecisionService::drain(double bound_ms) { return impl_->drain(bound_ms); }

}  // namespace layard
