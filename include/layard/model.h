/// A loaded checkpoint that answers questions: the front door of Layard.
///
///   layard::ModelOptions options;
///   options.environment = layard::Environment::from_process().value();
///   auto model = layard::Model::open(options).value();
///   std::string json = model->predict_json("I was charged twice.",
///       R"({"refund": {"type": "noul", "instructions": "Does the customer want money back?"}})",
///       {}, {}).value();
///
/// The library never prints: warnings go to ModelOptions::log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/answer.h"
#include "layard/error.h"
#include "layard/export.h"
#include "layard/question.h"

namespace layard {

/// Receives one line about something the caller may want to know. Called on the calling thread.
using LogFunction = std::function<void(std::string_view level, std::string_view message)>;

/// Where things are and what may be reached. `from_process()` fills it; nothing else
/// reads the environment.
struct Environment {
  /// Layard's own cache: $LAYARD_CACHE, $XDG_CACHE_HOME/layard, ~/.cache/layard.
  std::string cache_dir;
  /// Where checkpoints from the hub are kept, in its layout.
  std::string hub_cache_dir;
  std::string hub_endpoint = "https://huggingface.co";
  /// Sent only to hub_endpoint's host.
  std::string hub_token;
  /// HF_HUB_OFFLINE, else TRANSFORMERS_OFFLINE.
  bool hub_offline = false;
  /// Folders that may hold the embedded checkpoint `starter`.
  std::vector<std::string> data_dirs;
  /// JSON file that puts folders behind names (LAYARD_MODELS); empty: none.
  std::string models_file;
  /// LAYARD_FORCE_ISA: scalar, avx2, avx512, amx, neon; empty: the best this machine has whose
  /// kernels were recorded as tested on real processors (docs/hardware.md).
  std::string force_isa;
  /// LAYARD_THREADS; 0: what affinity and quota allow.
  int threads = 0;
  /// LAYARD_CACHE_MAX: the most that packed weights may take in cache_dir, in bytes; 0 keeps none.
  /// Read by parse_byte_count.
  std::uint64_t cache_bytes_max = 20'000'000'000;
  /// LAYARD_TOKEN_CACHE: entries of the text -> ids cache; 0 turns it off.
  int token_cache_entries = 4096;

  /// Reads the process environment, now. Errors: kInvalidRequest naming a variable whose value is
  /// not of its form.
  LAYARD_EXPORT static Result<Environment> from_process();
};

/// A size as options and variables take it: a whole number of bytes which may end in K, M, G, T, P
/// or E (powers of 1,000; also KB, MB, ...) or KiB, MiB, ... (powers of 1,024), in any case.
/// Errors: kInvalidRequest.
LAYARD_EXPORT Result<std::uint64_t> parse_byte_count(std::string_view text);

/// How to open a model.
struct ModelOptions {
  /// `starter`, a registered name, alias or repository id, or a folder in the published layout.
  std::string model = "starter";
  /// auto, cpu, gpu, npu (ane is accepted as npu's name).
  std::string device = "auto";
  /// float32, float16, bfloat16, int8; or auto: the fastest that has a passing parity record for
  /// these weights on this machine (see Model::parity), float32 when none has.
  std::string dtype = "float32";
  /// With a dtype less exact than float32: answers that a little probability moved between two
  /// options could change are decided by float32, on the same device. Its weights are loaded with
  /// the first such answer. Never in parity().
  bool tie_recheck = true;
  /// A file of `layard fit-temperatures` or of upstream that replaces the checkpoint's
  /// temperatures; empty: its own. One checkpoint's: with `auto` it is refused, and a service
  /// applies it to the model that it was started with. See docs/evaluation.md.
  std::string calibration_file = {};
  /// Never go online, whatever the environment says.
  bool local_files_only = false;
  /// Defers all loading to the first question.
  bool lazy = false;
  Environment environment;
  LogFunction log;
};

/// How to answer one request.
struct PredictOptions {
  OverflowPolicy overflow = OverflowPolicy::kCut;
  /// Adds each row's ids, markers and raw logits to the result.
  bool raw = false;
  /// Orders in which a choice question's options are shown, 1 to kOrdersMax; all of them are rows
  /// of the same forward pass, and the answer is read from the mean of their probabilities. 1: the
  /// order the question has. 2: also from the last option to the first. More: also permutations
  /// that follow from the question's own texts, so that equal questions get equal orders. Scores
  /// and nouls keep their one order.
  int orders = 1;
};

/// What ran where, in the guide's field order.
struct RuntimeInfo {
  std::string backend = "none";
  std::string device = "none";
  std::string model;
  std::string model_revision;
  std::int64_t sequence_length = 0;
  std::int64_t question_count = 0;
  std::string routing_reason;
  std::string artifact_revision;
  double latency_ms = 0;
  std::optional<std::string> compute_units;
  std::vector<int> buckets;
  std::optional<std::string> dtype;
  std::string execution = "inline";
  std::optional<double> queue_wait_ms;
  std::optional<double> device_ms;
  std::optional<double> cpu_backlog_ms;
  std::optional<double> npu_backlog_ms;
  std::int64_t request_id = 0;
  bool truncated = false;
  std::optional<std::string> model_routing;
  /// Rows that were run again in float32 (ModelOptions::tie_recheck); nothing, and not printed,
  /// where no row could be.
  std::optional<std::int64_t> rechecked;
  /// A models file leads `model`, a registered name or `starter`, elsewhere than to what the name
  /// stands for. Printed only when true.
  bool remapped = false;
};

/// One prompt row as it was run.
struct RawRow {
  std::string question;
  std::vector<std::int32_t> input_ids;
  std::vector<std::int32_t> markers;
  std::vector<float> logits;
  std::vector<float> act;
  /// Where several orders were asked for and the question has one: slot s shows option
  /// option_order[s]. Else empty, and not printed.
  std::vector<std::uint32_t> option_order = {};
};

/// Everything one request gave.
struct Prediction {
  AnswerSet answers;
  RuntimeInfo runtime;
  /// Filled when PredictOptions::raw.
  std::vector<RawRow> rows;
};

/// `prediction` as JSON: model, answers, usage, warnings?, stability?, rows?, runtime.
LAYARD_EXPORT std::string print_prediction(const Prediction& prediction,
                                           const CodecOptions& options);

/// `{"error": {"type", "message"}}`: what stands in the place of a result that failed.
LAYARD_EXPORT std::string print_error(const Error& error, const CodecOptions& options);

/// A checkpoint on one device. Immutable weights; all calls may come from any thread, forward
/// passes run one at a time.
class LAYARD_EXPORT Model {
 public:
  /// Resolves, loads and checks the checkpoint (unless options.lazy).
  /// Errors: kUnsupportedModel (unknown name, incompatible checkpoint), kBackendUnavailable (device
  /// not in this build, not cached while offline), kArtifactIntegrity, kArtifactRevision (also a
  /// calibration file of other weights), kIo, kInvalidRequest (an option out of range, a malformed
  /// calibration file).
  static Result<std::unique_ptr<Model>> open(const ModelOptions& options);

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  /// Answers `questions` about `state`. No questions: empty answers, nothing is loaded or run.
  /// Errors: kInvalidRequest, kUnsupportedShape, those of open() when lazy, kInternal when the
  /// model gave a number that is not finite.
  Result<Prediction> predict(const State& state, const QuestionSet& questions,
                             const PredictOptions& options);

  /// Answers many requests in shared forward passes; results are those of single calls, bit for
  /// bit. A request's own overflow policy and orders win over `options`. A request that names
  /// another model is answered all the same, with a warning in its result.
  std::vector<Result<Prediction>> predict_many(std::span<const Request> requests,
                                               const PredictOptions& options);

  /// The JSON door: a request as parse_request reads it in, a result out.
  Result<std::string> predict_json(std::string_view request, const CodecOptions& codec);

  /// `context` by the command line's rule (see context_from_text), `questions` as JSON.
  Result<std::string> predict_json(std::string_view context, std::string_view questions,
                                   const CodecOptions& codec, const PredictOptions& options);

  /// What is fixed once a model is loaded.
  struct Facts {
    std::int64_t max_length = 0;  ///< tokens of the longest prompt row
    std::string dtype;            ///< the number format in use, also where `auto` was asked for
    std::string isa;              ///< of the cpu's kernels
    bool remapped = false;        ///< as RuntimeInfo::remapped
  };
  /// Errors: those of open() when lazy.
  Result<Facts> facts();

  /// Tokens of the longest prompt row of a request, without running the model; max_length + 1 when
  /// the state would be cut. Errors: kInvalidRequest; those of open() when lazy.
  Result<std::int64_t> sequence_length(const State& state, const QuestionSet& questions);

  /// What the model would read: each question's ids, tokens, option spans and what was cut. Runs
  /// no forward pass. Of several orders (PredictOptions::orders) it shows the first.
  Result<std::string> render_json(std::string_view context, std::string_view questions,
                                  const CodecOptions& codec, const PredictOptions& options);

  /// Compares this model with recorded reference outputs: JSON Lines of `{state, questions, rows}`
  /// or one object with `cases`. Returns the gate's summary as JSON and whether it passed.
  /// Without goldens: the model's own goldens.jsonl. `progress(done, total)` may be empty.
  /// A gate that passed on at least 200 rows of weights that are not random, or that failed, is
  /// recorded below Environment::cache_dir for dtype auto; `record` in the JSON says where, or why
  /// not. Errors: kInvalidRequest (malformed goldens, or none; a model opened with dtype auto);
  /// what is wrong with `goldens` begins with `goldens ` and names the line or case.
  struct ParityReport {
    std::string json;
    bool passed = false;
  };
  Result<ParityReport> parity(std::optional<std::string_view> goldens,
                              const std::function<void(std::size_t, std::size_t)>& progress);

  /// The guide's info block of one model, as JSON.
  std::string info_json();

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// `layard info`: version, platform, what is available, every registered model (or just `model`;
/// for `auto` both it chooses between, and its detector) with its pin and where it is. Loads no
/// weights, needs no network. Errors: kUnsupportedModel; those of an instruction set that cannot be
/// forced.
LAYARD_EXPORT Result<std::string> info_json(const Environment& environment, bool local_files_only,
                                            std::string_view model);

/// The same of options.model, with `calibration`: what options.calibration_file holds, and whether
/// it was fitted on this model's weights. Errors: also those of that file.
LAYARD_EXPORT Result<std::string> info_json(const ModelOptions& options);

/// `layard cache list`: packed weights kept in environment.cache_dir, longest unused first, as
/// JSON:
/// {"folder", "bytes", "bytes_max", "files": [{"file", "bytes", "last_used_s", "weights", "isa",
/// "type", "current"}], "files_left_out"}; `current` is whether this build would use the file;
/// `last_used_s` is seconds since 1970. Bounds: 10,000 files are listed; how many more there are is
/// `files_left_out`, absent where there are none. Errors: kIo.
LAYARD_EXPORT Result<std::string> cache_list_json(const Environment& environment);

/// `layard cache prune`: removes packed weights, longest unused first, until at most `bytes_max`
/// remain (0: all); a running process keeps what it has mapped. Returns {"removed": [...],
/// "removed_left_out", "bytes_freed", "bytes_left"}. Bounds: any number of files is removed, 10,000
/// are named; how many more went is `removed_left_out`, absent where all are named. Errors: kIo.
LAYARD_EXPORT Result<std::string> cache_prune_json(const Environment& environment,
                                                   std::uint64_t bytes_max);

/// The short names that ModelOptions::model may be: `starter`, registered names, and those of the
/// models file. Errors: those of the models file.
LAYARD_EXPORT Result<std::vector<std::string>> model_names(const Environment& environment);

/// Whether `asked`, a name as ModelOptions::model takes it or `auto`, stands for the same model as
/// `opened`: by name, alias, repository or the same folder. Touches no network.
/// Errors: kUnsupportedModel, kIo and others for a name that stands for nothing; those of the
/// models file.
LAYARD_EXPORT Result<bool> is_same_model(const Environment& environment, std::string_view asked,
                                         std::string_view opened);

/// The tokenizer.json of a model that is on this machine. Errors: as Model::open.
LAYARD_EXPORT Result<std::string> tokenizer_path(const Environment& environment,
                                                 bool local_files_only, std::string_view model);

/// `{"ids": [...], "tokens": [...]}` on one line.
LAYARD_EXPORT std::string print_tokens(std::span<const std::int32_t> ids,
                                       std::span<const std::string> tokens);

/// The `text` of a JSON line `{"text": "..."}`. Errors: kInvalidRequest.
LAYARD_EXPORT Result<std::string> parse_text_line(std::string_view line);

/// One finished download.
struct DownloadReport {
  std::string repository;
  std::string revision;
  std::string path;
  /// False when everything was already there.
  bool fetched = false;
};

/// Fetches a registered checkpoint at its pinned revision into the hub cache, all or nothing.
/// `progress(file, bytes_done, bytes_total)` may be empty; bytes_total is 0 while unknown.
/// Errors: kUnsupportedModel, kBackendUnavailable (offline, network), kArtifactRevision (hash),
/// kIo.
LAYARD_EXPORT Result<DownloadReport> download_model(
    const Environment& environment, bool local_files_only, std::string_view model,
    const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress);

}  // namespace layard
