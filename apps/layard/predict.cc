#include <iostream>
#include <memory>
#include <vector>

#include "commands.h"
#include "input.h"
#include "progress.h"
#include "table.h"

namespace layard::cli {
namespace {

// Lines of --batch answered in one pass: enough to fill forward passes, little enough to stream.
constexpr std::size_t kBatchLines = 64;

struct Options {
  std::string model = "starter";
  std::string context;
  std::string questions;
  std::string device = "auto";
  std::string dtype = "float32";
  std::string overflow = "cut";
  std::string format = "json";
  std::string batch;
  bool raw = false;
  bool no_tie_recheck = false;
};

PredictOptions predict_options(const Options& options) {
  PredictOptions predict;
  predict.overflow = *overflow_policy_from_string(options.overflow);
  predict.raw = options.raw;
  return predict;
}

Result<Prediction> predict_one(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const RequestInput input, read_request(options.context, options.questions));
  LAYARD_ASSIGN(ModelOptions model_options_value,
                model_options(globals, options.model, options.device, options.dtype));
  model_options_value.lazy = true;
  model_options_value.tie_recheck = !options.no_tie_recheck;
  LAYARD_ASSIGN(const std::unique_ptr<Model> model, Model::open(model_options_value));
  return model->predict(input.state, input.questions, predict_options(options));
}

int run_one(const Globals& globals, const Options& options) {
  const auto prediction = predict_one(globals, options);
  if (!prediction.ok()) return report(prediction.error());
  if (options.format == "table") {
    std::cout << answers_table(prediction->answers);
  } else {
    std::cout << print_prediction(*prediction, {}) << "\n";
  }
  return kExitOk;
}

class Batch {
 public:
  struct Line {
    std::uint64_t number;
    Result<Request> request;
  };

  Batch(Model& model, const Options& options) : model_(model), options_(predict_options(options)) {}

  /// Answers the collected lines in order.
  void flush() {
    std::vector<Request> requests;
    for (const auto& line : lines_) {
      if (line.request.ok()) requests.push_back(*line.request);
    }
    const auto results = model_.predict_many(requests, options_);
    std::size_t next = 0;
    for (const auto& line : lines_) {
      const Result<Prediction> result =
          line.request.ok() ? results[next++] : Result<Prediction>(line.request.error());
      failed_ = failed_ || !result.ok();
      CodecOptions codec;
      codec.layout = JsonLayout::kSpaced;
      std::cout << (result.ok() ? print_prediction(*result, codec)
                                : print_error(at_line(line.number, result.error()), codec))
                << "\n";
    }
    std::cout.flush();
    lines_.clear();
  }

  void add(std::uint64_t number, Result<Request> request) {
    lines_.push_back({number, std::move(request)});
    if (lines_.size() == kBatchLines) flush();
  }

  bool failed() const { return failed_; }

 private:
  Model& model_;
  PredictOptions options_;
  std::vector<Line> lines_;
  bool failed_ = false;
};

int run_batch(const Globals& globals, const Options& options) {
  auto resolved = model_options(globals, options.model, options.device, options.dtype);
  if (!resolved.ok()) return report(resolved.error());
  resolved->tie_recheck = !options.no_tie_recheck;
  auto model = Model::open(*resolved);
  if (!model.ok()) return report(model.error());
  auto source = Source::open(options.batch);
  if (!source.ok()) return report(source.error());
  LineReader lines(*std::move(source));
  Batch batch(**model, options);
  Progress progress("predict");
  std::uint64_t count = 0;
  std::string line;
  bool too_long = false;
  while (true) {
    const auto more = lines.next(line, too_long);
    if (!more.ok()) {
      batch.flush();
      return report(more.error());
    }
    // Nobody can read the answers any more: main says so.
    if (!*more || !std::cout) break;
    ++count;
    if (too_long) {
      batch.add(count, Error{ErrorCode::kInvalidRequest, "more than 16 MiB"});
    } else if (line.find_first_not_of(" \t") != std::string::npos) {
      batch.add(count, parse_request(line, {}));
    }
    progress.update(count, 0);
  }
  batch.flush();
  return batch.failed() ? kExitCheckFailed : kExitOk;
}

int run_predict(const Globals& globals, const Options& options, const CLI::App& command) {
  const bool context_given = command.count("--context") > 0;
  const bool questions_given = command.count("--questions") > 0;
  if (options.batch.empty()) {
    if (!questions_given) {
      return report({ErrorCode::kInvalidRequest,
                     "questions are required: --questions JSON, or --batch FILE"});
    }
    if (!context_given) {
      return report({ErrorCode::kInvalidRequest,
                     "a text is required: --context TEXT, @FILE, or - for standard input"});
    }
    return run_one(globals, options);
  }
  if (context_given || questions_given || options.format != "json") {
    return report({ErrorCode::kInvalidRequest,
                   "--batch takes state and questions from its lines; drop --context, --questions "
                   "and --format"});
  }
  return run_batch(globals, options);
}

}  // namespace

void add_predict(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand("predict", "Answer questions about a text");
  command->footer(
      "Examples:\n"
      "  layard predict --context \"I was charged twice.\" --questions '[\"Is this urgent?\"]'\n"
      "  layard predict laya --context @mail.txt --questions @questions.json --format table\n"
      "  layard predict --batch requests.jsonl > answers.jsonl\n\n"
      "Questions are an object of name -> {type, instructions, criteria}:\n"
      "  choice  criteria: {label: description} or a list of labels\n"
      "  score   criteria: a list of level descriptions, lowest first\n"
      "  noul    yes/no; criteria optional: {\"false\": ..., \"true\": ...}\n"
      "or a list of texts, each a yes/no question. To gate on an answer use answer_confidence.");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model, "starter, a model name, or a checkpoint folder")
      ->capture_default_str();
  command->add_option(
      "--context", options->context,
      "The text, @FILE, or - for standard input; one that starts with [ or { and is JSON is taken "
      "as JSON (a list is a conversation)");
  command->add_option("--questions", options->questions, "The questions as JSON, @FILE, or -");
  command->add_option("--device", options->device, "auto, cpu, gpu or npu")->capture_default_str();
  command
      ->add_option("--dtype", options->dtype,
                   "float32 (exact), float16, bfloat16, int8, or auto: the fastest that `layard "
                   "parity` has passed here")
      ->capture_default_str();
  command->add_flag("--no-tie-recheck", options->no_tie_recheck,
                    "Keep a reduced dtype's answer where float32 would decide a near tie");
  command
      ->add_option(
          "--overflow", options->overflow,
          "What to do with a text that does not fit: cut it, give an error, or read it in windows")
      ->check(CLI::IsMember({"cut", "error", "windows"}))
      ->capture_default_str();
  command->add_flag("--raw", options->raw, "Add each row's ids, markers and raw logits");
  command->add_option("--batch", options->batch,
                      "JSON Lines of {\"state\", \"questions\"}, FILE or -; one result a line");
  command->add_option("--format", options->format, "json or table")
      ->check(CLI::IsMember({"json", "table"}))
      ->capture_default_str();
  command->callback([&globals, &run, options, command] {
    run = [&globals, options, command] { return run_predict(globals, *options, *command); };
  });
}

}  // namespace layard::cli
