#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "commands.h"
#include "input.h"
#include "layard/words.h"
#include "predictor.h"
#include "progress.h"
#include "table.h"

namespace layard::cli {
namespace {

// Lines of --batch answered in one pass: enough to fill forward passes, little enough to stream.
constexpr std::size_t kBatchLines = 64;
// The input pauses when no further line comes for so long: what has come is answered then, so that
// a client may wait for answers before it asks on. A fast pipe still fills whole groups.
constexpr int kPauseMs = 5;

struct Options {
  std::string model = "starter";
  std::string context;
  std::string questions;
  std::string device = "auto";
  std::string dtype = "float32";
  std::string overflow = "cut";
  std::string format = "json";
  std::string batch;
  std::string default_model;
  std::vector<std::string> cascade;
  std::string cascade_file;
  std::optional<double> cascade_threshold;
  int orders = 1;
  bool stability = false;
  std::string calibration;
  bool raw = false;
  bool no_tie_recheck = false;
};

PredictOptions predict_options(const Options& options) {
  PredictOptions predict;
  predict.overflow = *overflow_policy_from_string(options.overflow);
  predict.raw = options.raw;
  predict.orders = options.stability ? 2 : options.orders;
  return predict;
}

// What this run is told to answer with, for messages.
std::string opened_name(const Options& options) {
  if (options.cascade.empty()) return options.model;
  std::string names;
  for (const std::string& name : options.cascade) names += (names.empty() ? "" : ",") + name;
  return names;
}

Result<Predictor> open_cascade(const Options& options, const ModelOptions& checkpoints) {
  if (!options.default_model.empty()) {
    return Error{ErrorCode::kInvalidRequest,
                 "--default-model belongs to the model auto, and a "
                 "cascade names its checkpoints"};
  }
  if (!options.calibration.empty()) {
    return Error{ErrorCode::kInvalidRequest,
                 "--calibration is one checkpoint's, and a cascade has several"};
  }
  CascadeOptions cascade;
  cascade.checkpoints = checkpoints;
  cascade.chain = options.cascade;
  cascade.threshold = options.cascade_threshold;
  if (!options.cascade_file.empty()) {
    LAYARD_ASSIGN(const std::string text, read_file(options.cascade_file, kCascadeFileBytesMax));
    auto plan = parse_cascade_plan(text);
    if (!plan.ok()) {
      return Error{plan.error().code, "'" + options.cascade_file + "': " + plan.error().message};
    }
    cascade.plan = *std::move(plan);
  }
  return Predictor::open_cascade(cascade);
}

Result<Predictor> open_predictor(const Globals& globals, const Options& options, bool lazy) {
  LAYARD_ASSIGN(ModelOptions resolved,
                model_options(globals, options.model, options.device, options.dtype));
  resolved.lazy = lazy;
  resolved.tie_recheck = !options.no_tie_recheck;
  resolved.calibration_file = options.calibration;
  if (!options.cascade.empty()) return open_cascade(options, resolved);
  return Predictor::open(resolved, options.default_model);
}

// Of the terminal that standard output is; 0 for anything else.
std::size_t terminal_columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Result<Prediction> predict_one(const Globals& globals, const Options& options) {
  LAYARD_ASSIGN(const RequestInput input, read_request(options.context, options.questions));
  LAYARD_ASSIGN(Predictor predictor, open_predictor(globals, options, true));
  return predictor.predict(input.state, input.questions, predict_options(options));
}

int run_one(const Globals& globals, const Options& options) {
  const auto prediction = predict_one(globals, options);
  if (!prediction.ok()) return report(prediction.error());
  if (options.format == "table") {
    if (prediction->runtime.model_routing.has_value()) {
      std::cout << printable("answered by " + prediction->runtime.model + ": " +
                             *prediction->runtime.model_routing)
                << "\n\n";
    }
    std::cout << answers_table(prediction->answers, terminal_columns());
  } else {
    std::cout << print_prediction(*prediction, {}) << "\n";
  }
  return kExitOk;
}

// Names of the interface and not of a checkpoint: clients of the hosted service send the first, and
// every answer carries the second.
bool names_the_interface(std::string_view model) {
  return model.starts_with("jev-") || model == "laya-rl-agent";
}

// What the lines of a batch may name as their model: the one that this run has.
class ModelNames {
 public:
  /// `is_cascade`: no single name stands for what answers.
  ModelNames(Environment environment, std::string opened, bool is_cascade)
      : environment_(std::move(environment)), opened_(std::move(opened)), is_cascade_(is_cascade) {}

  /// Errors: kInvalidRequest for another model, and those of is_same_model.
  Status check(const std::string& asked) {
    if (names_the_interface(asked)) return {};
    // Lines mostly name what the line before did.
    if (!last_ || last_->first != asked) last_.emplace(asked, compare(asked));
    return last_->second;
  }

 private:
  Status compare(const std::string& asked) const {
    if (!is_cascade_) {
      LAYARD_ASSIGN(const bool same, is_same_model(environment_, asked, opened_));
      if (same) return {};
    }
    return Error{ErrorCode::kInvalidRequest,
                 "'model' is '" + asked.substr(0, kNameBytesMax) + "', and this run has '" +
                     opened_ + "'; give such lines to a run of their own: layard predict " +
                     shell_quoted(asked.substr(0, kNameBytesMax)) + " --batch FILE"};
  }

  static constexpr std::size_t kNameBytesMax = 200;
  Environment environment_;
  std::string opened_;
  bool is_cascade_;
  std::optional<std::pair<std::string, Status>> last_;
};

class Batch {
 public:
  struct Line {
    std::uint64_t number;
    Result<Request> request;
  };

  Batch(Predictor& predictor, const Options& options, ModelNames names)
      : predictor_(predictor), options_(predict_options(options)), names_(std::move(names)) {}

  /// Answers the collected lines in order.
  void flush() {
    std::vector<Request> requests;
    for (const auto& line : lines_) {
      if (line.request.ok()) requests.push_back(*line.request);
    }
    const auto results = predictor_.predict_many(requests, options_);
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
    if (request.ok() && request->model.has_value()) {
      const Status status = names_.check(*request->model);
      if (!status.ok()) request = status.error();
      if (request.ok()) request->model.reset();
    }
    lines_.push_back({number, std::move(request)});
    if (lines_.size() == kBatchLines) flush();
  }

  bool is_empty() const { return lines_.empty(); }
  bool failed() const { return failed_; }

 private:
  Predictor& predictor_;
  PredictOptions options_;
  ModelNames names_;
  std::vector<Line> lines_;
  bool failed_ = false;
};

int run_batch(const Globals& globals, const Options& options) {
  const auto known = environment(globals);
  if (!known.ok()) return report(known.error());
  auto predictor = open_predictor(globals, options, false);
  if (!predictor.ok()) return report(predictor.error());
  auto source = Source::open(options.batch);
  if (!source.ok()) return report(source.error());
  LineReader lines(*std::move(source));
  Batch batch(*predictor, options,
              ModelNames(*known, opened_name(options), !options.cascade.empty()));
  Progress progress("predict");
  std::uint64_t count = 0;
  std::string line;
  bool too_long = false;
  while (true) {
    const auto next =
        lines.next(line, too_long, batch.is_empty() ? LineReader::kForever : kPauseMs);
    if (!next.ok()) {
      batch.flush();
      return report(next.error());
    }
    // Nobody can read the answers any more: main says so.
    if (*next == LineReader::Next::kEnd || !std::cout) break;
    if (*next == LineReader::Next::kPause) {
      batch.flush();
      continue;
    }
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
  if (options.raw && options.format == "table") {
    return report({ErrorCode::kInvalidRequest,
                   "--raw adds rows that --format table does not show; drop one of the two"});
  }
  if (!options.cascade.empty() && command.count("model") > 0) {
    return report({ErrorCode::kInvalidRequest, "--cascade stands in the place of MODEL; put '" +
                                                   options.model + "' into the chain or drop it"});
  }
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
  std::string beside;
  if (context_given) beside += ", --context";
  if (questions_given) beside += ", --questions";
  if (options.format != "json") beside += ", --format " + options.format;
  if (!beside.empty()) {
    return report({ErrorCode::kInvalidRequest,
                   "--batch takes state and questions from its lines and prints JSON; drop " +
                       beside.substr(2)});
  }
  return run_batch(globals, options);
}

void add_orders_options(CLI::App& command, Options& options) {
  CLI::Option* orders =
      command
          .add_option("--orders", options.orders,
                      "Show the options of a choice in so many orders and answer from the mean; "
                      "`stability` in the result says how far they differ")
          ->check(CLI::Range(1, kOrdersMax))
          ->capture_default_str();
  command.add_flag("--stability", options.stability, "As --orders 2: as given and reversed")
      ->excludes(orders);
}

void add_cascade_options(CLI::App& command, Options& options) {
  CLI::Option* cascade =
      command
          .add_option("--cascade", options.cascade,
                      "Checkpoints in the place of MODEL, smallest first: what one is not sure of "
                      "the next one answers, and `cascade` in the result says which")
          ->delimiter(',')
          ->type_name("MODEL,MODEL,...");
  command
      .add_option("--cascade-file", options.cascade_file,
                  "How sure each must be, fitted on labelled data")
      ->type_name(kFileType)
      ->needs(cascade);
  command
      .add_option("--cascade-threshold", options.cascade_threshold,
                  "The same for all but the last, set by hand, 0 to 1")
      ->type_name("FLOAT")
      ->needs(cascade);
}

}  // namespace

void add_predict(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand("predict", "Answer questions about a text");
  command->footer(
      "Examples:\n"
      "  layard predict --context \"I was charged twice.\" --questions '[\"Is this urgent?\"]'\n"
      "  layard predict laya --context @mail.txt --questions @questions.json --format table\n"
      "  layard predict --batch requests.jsonl > answers.jsonl\n"
      "  layard predict auto --context \"Wo ist mein Paket?\" --questions '[\"Is it late?\"]'\n\n"
      "Questions are an object of name -> {type, instructions, criteria}:\n"
      "  choice  criteria: {label: description} or a list of labels\n"
      "  score   criteria: a list of level descriptions, lowest first\n"
      "  noul    yes/no; criteria optional: {\"false\": ..., \"true\": ...}\n"
      "or a list of texts, each a yes/no question. To gate on an answer use answer_confidence.");
  auto options = std::make_shared<Options>();
  add_model_option(*command, options->model, kModelOrAutoType);
  add_default_model(*command, options->default_model);
  command
      ->add_option(
          "--context", options->context,
          "The text, @FILE, or - for standard input; one that starts with [ or { and is JSON is "
          "taken as JSON (a list is a conversation)")
      ->type_name(kValueType);
  command->add_option("--questions", options->questions, "The questions as JSON, @FILE, or -")
      ->type_name(kValueType);
  add_device_option(*command, options->device);
  add_dtype_option(*command, options->dtype,
                   "Number format: float32 is exact; auto is the fastest that `layard parity` has "
                   "passed here");
  command->add_flag("--no-tie-recheck", options->no_tie_recheck,
                    "Keep a reduced dtype's answer where float32 would decide a near tie");
  add_calibration_option(*command, options->calibration);
  command
      ->add_option(
          "--overflow", options->overflow,
          "What to do with a text that does not fit: cut it, give an error, or read it in windows")
      ->check(CLI::IsMember({"cut", "error", "windows"}))
      ->capture_default_str();
  add_orders_options(*command, *options);
  add_cascade_options(*command, *options);
  command->add_flag("--raw", options->raw, "Add each row's ids, markers and raw logits");
  command
      ->add_option("--batch", options->batch,
                   "JSON Lines of {\"state\", \"questions\"}, FILE or -; one result a line, in "
                   "order, as soon as the input pauses. A line's \"model\", if it has one, must be "
                   "the model of this run")
      ->type_name(kFileType);
  command->add_option("--format", options->format, "How the answers are printed")
      ->check(CLI::IsMember({"json", "table"}))
      ->capture_default_str();
  command->callback([&globals, &run, options, command] {
    run = [&globals, options, command] { return run_predict(globals, *options, *command); };
  });
}

}  // namespace layard::cli
