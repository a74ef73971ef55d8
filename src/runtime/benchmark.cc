#include "layard/benchmark.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "layard/version.h"
#include "runtime/platform.h"
#include "runtime/workload.h"

namespace layard {
namespace {

using base::JsonValue;

constexpr std::size_t kLengthsMax = 256;
constexpr int kQuestionsMax = 64;
constexpr int kCallsMax = 100'000;
constexpr int kFillersMax = 64;
constexpr std::int64_t kLengthMax = std::int64_t{1} << 20;

Error out_of_range(const std::string& what) { return {ErrorCode::kInvalidRequest, what}; }

Status check(const BenchmarkOptions& options) {
  if (options.lengths.empty() || options.lengths.size() > kLengthsMax) {
    return out_of_range("benchmark wants 1 to 256 lengths");
  }
  for (const std::int64_t length : options.lengths) {
    if (length < 1 || length > kLengthMax) {
      return out_of_range("a length must be from 1 to 1,048,576 tokens, got " +
                          std::to_string(length));
    }
  }
  if (options.questions < 1 || options.questions > kQuestionsMax) {
    return out_of_range("questions must be from 1 to 64");
  }
  if (options.warmup < 0 || options.warmup > kCallsMax) {
    return out_of_range("warmup must be from 0 to 100,000");
  }
  if (options.iters < 1 || options.iters > kCallsMax) {
    return out_of_range("iters must be from 1 to 100,000");
  }
  return {};
}

// Percentile by linear interpolation between the neighbours of rank (n - 1) q / 100.
double percentile(const std::vector<double>& sorted, double q) {
  const double rank = static_cast<double>(sorted.size() - 1) * q / 100.0;
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (rank - static_cast<double>(low));
}

JsonValue summary(std::vector<double> samples) {
  std::ranges::sort(samples);
  double sum = 0;
  for (const double sample : samples) sum += sample;
  JsonValue out = JsonValue::object();
  out.set("n", JsonValue::integer(static_cast<std::int64_t>(samples.size())));
  out.set("p50_ms", JsonValue::real(percentile(samples, 50)));
  out.set("p95_ms", JsonValue::real(percentile(samples, 95)));
  out.set("p99_ms", JsonValue::real(percentile(samples, 99)));
  out.set("mean_ms", JsonValue::real(sum / static_cast<double>(samples.size())));
  out.set("min_ms", JsonValue::real(samples.front()));
  out.set("max_ms", JsonValue::real(samples.back()));
  return out;
}

JsonValue numbers(const std::vector<double>& values) {
  JsonValue out = JsonValue::array();
  for (const double value : values) out.push_back(JsonValue::real(value));
  return out;
}

// One model on one length after the other.
class Bench {
 public:
  Bench(Model& model, Model::Facts facts, const ModelOptions& named,
        const BenchmarkOptions& options, double load_s)
      : model_(model),
        facts_(std::move(facts)),
        named_(named),
        options_(options),
        load_s_(load_s) {}

  /// The record of one length; `failed` becomes true when it could not be measured.
  /// Errors: kCancelled.
  Result<JsonValue> measure(std::int64_t length, const std::function<void()>& tick, bool& failed) {
    JsonValue out = head(length);
    if (length > facts_.max_length) {
      out.set("status", JsonValue::string("skipped: exceeds checkpoint max_len"));
      return out;
    }
    const auto request = make_request(model_, length, options_.questions, 0);
    Status status = request.ok() ? Status() : Status(request.error());
    if (status.ok()) status = run(*request, tick, out);
    if (status.ok()) return out;
    if (status.error().code == ErrorCode::kCancelled) return status.error();
    failed = true;
    JsonValue error = head(length);
    error.set("status",
              JsonValue::string("error: " + std::string(error_type_name(status.error().code)) +
                                ": " + status.error().message));
    return error;
  }

 private:
  JsonValue head(std::int64_t length) const {
    JsonValue platform = JsonValue::object();
    platform.set("processor", JsonValue::string(runtime::processor_name()));
    platform.set("isa", JsonValue::string(facts_.isa));
    JsonValue out = JsonValue::object();
    out.set("tool", JsonValue::string("layard benchmark"));
    out.set("layard", JsonValue::string(std::string(version())));
    out.set("model", JsonValue::string(named_.model));
    if (facts_.remapped) out.set("remapped", JsonValue::boolean(true));
    out.set("device_requested", JsonValue::string(named_.device));
    out.set("dtype", JsonValue::string(facts_.dtype));
    out.set("length", JsonValue::integer(length));
    out.set("questions", JsonValue::integer(options_.questions));
    out.set("load_s", JsonValue::real(load_s_));
    out.set("platform", std::move(platform));
    return out;
  }

  Status check_wanted() const {
    if (!options_.cancelled || !options_.cancelled()) return {};
    return Error{ErrorCode::kCancelled, "the benchmark was ended before it was done"};
  }

  Result<Prediction> call(const Request& request) {
    LAYARD_TRY(check_wanted());
    return model_.predict(request.state, request.questions, {});
  }

  Status run(const Request& request, const std::function<void()>& tick, JsonValue& out) {
    LAYARD_ASSIGN(const Prediction first, call(request));
    const std::int64_t wanted = out.find("length")->as_int64().value_or(0);
    if (first.runtime.sequence_length != wanted) {
      return Error{ErrorCode::kInternal, "the request has " +
                                             std::to_string(first.runtime.sequence_length) +
                                             " tokens instead of " + std::to_string(wanted)};
    }
    for (int i = 0; i < 2 * options_.warmup; ++i) {
      LAYARD_TRY(call(request));
    }
    std::vector<double> forward_ms;
    std::vector<double> predict_ms;
    for (int i = 0; i < options_.iters; ++i, tick()) {
      LAYARD_ASSIGN(const Prediction got, call(request));
      forward_ms.push_back(got.runtime.device_ms.value_or(NAN));
    }
    for (int i = 0; i < options_.iters; ++i, tick()) {
      LAYARD_TRY(check_wanted());
      const double start_ms = base::real_clock().now_ms();
      LAYARD_TRY(model_.predict(request.state, request.questions, {}));
      predict_ms.push_back(base::real_clock().now_ms() - start_ms);
    }
    report(first.runtime, forward_ms, predict_ms, out);
    return {};
  }

  static void report(const RuntimeInfo& runtime, const std::vector<double>& forward_ms,
                     const std::vector<double>& predict_ms, JsonValue& out) {
    out.set("status", JsonValue::string("ok"));
    out.set("backend", JsonValue::string(runtime.backend));
    out.set("device", JsonValue::string(runtime.device));
    out.set("routing_reason", JsonValue::string(runtime.routing_reason));
    out.set("artifact_revision", JsonValue::string(runtime.artifact_revision));
    JsonValue buckets = JsonValue::array();
    for (const int bucket : runtime.buckets) buckets.push_back(JsonValue::integer(bucket));
    out.set("buckets", std::move(buckets));
    out.set("forward", summary(forward_ms));
    out.set("predict", summary(predict_ms));
    JsonValue samples = JsonValue::object();
    samples.set("forward_ms", numbers(forward_ms));
    samples.set("predict_ms", numbers(predict_ms));
    out.set("samples", std::move(samples));
  }

  Model& model_;
  Model::Facts facts_;
  const ModelOptions& named_;
  const BenchmarkOptions& options_;
  double load_s_;
};

State text_state(std::string text) {
  State state;
  state.text = std::move(text);
  return state;
}

}  // namespace

Result<Request> make_request(Model& model, std::int64_t length, int questions, std::uint64_t seed) {
  if (questions < 1 || questions > kQuestionsMax) {
    return Error{ErrorCode::kInvalidRequest, "questions must be from 1 to 64"};
  }
  LAYARD_ASSIGN(const Model::Facts facts, model.facts());
  if (length > facts.max_length) {
    return Error{ErrorCode::kInvalidRequest, "a length of " + std::to_string(length) +
                                                 " tokens exceeds the checkpoint's " +
                                                 std::to_string(facts.max_length)};
  }
  const QuestionSet set = runtime::workload_questions(questions, seed);
  runtime::TicketWords words(seed);
  const Error impossible{ErrorCode::kInvalidRequest,
                         "no request of exactly " + std::to_string(length) + " tokens and " +
                             std::to_string(questions) + " questions; try another length"};
  std::string text;
  // Every word is at least one token.
  for (std::int64_t count = 0; count <= length; ++count) {
    const std::string longer = (text.empty() ? "" : text + " ") + words.next();
    LAYARD_ASSIGN(const std::int64_t reached, model.sequence_length(text_state(longer), set));
    if (reached == length) return Request{text_state(longer), set, std::nullopt, std::nullopt};
    if (reached > length) break;
    text = longer;
  }
  for (int filler = 0; filler < kFillersMax; ++filler) {
    text += text.empty() ? "a" : " a";
    LAYARD_ASSIGN(const std::int64_t reached, model.sequence_length(text_state(text), set));
    if (reached == length) return Request{text_state(text), set, std::nullopt, std::nullopt};
    if (reached > length) break;
  }
  return impossible;
}

Result<bool> benchmark(const ModelOptions& model, const BenchmarkOptions& options,
                       const std::function<void(std::string_view)>& record,
                       const std::function<void(std::size_t, std::size_t)>& progress) {
  LAYARD_TRY(check(options));
  ModelOptions exact = model;
  exact.tie_recheck = false;
  exact.lazy = false;
  const double start_ms = base::real_clock().now_ms();
  LAYARD_ASSIGN(const std::unique_ptr<Model> opened, Model::open(exact));
  LAYARD_ASSIGN(Model::Facts facts, opened->facts());
  Bench bench(*opened, std::move(facts), model, options,
              (base::real_clock().now_ms() - start_ms) / 1000.0);
  const std::size_t total = options.lengths.size() * 2 * static_cast<std::size_t>(options.iters);
  std::size_t done = 0;
  const auto tick = [&] {
    ++done;
    if (progress) progress(done, total);
  };
  bool failed = false;
  for (const std::int64_t length : options.lengths) {
    LAYARD_ASSIGN(const JsonValue json, bench.measure(length, tick, failed));
    record(write_json(json, base::JsonStyle::kPython));
  }
  return !failed;
}

}  // namespace layard
