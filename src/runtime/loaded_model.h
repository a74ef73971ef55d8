/// A checkpoint in memory, ready to run: files, tokenizer, weights, kernels, session.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backends/session.h"
#include "checkpoint/checkpoint_folder.h"
#include "decision/calibration.h"
#include "encoder/weights.h"
#include "kernels/kernels.h"
#include "layard/model.h"
#include "runtime/function_log.h"
#include "runtime/prepare.h"
#include "tokenizer/id_cache.h"
#include "tokenizer/tokenizer.h"
#include "validation/parity_record.h"

namespace layard::runtime {

/// Which checkpoint a name stands for, found on this machine.
struct ModelIdentity {
  std::string name;      // `laya`, or the folder as given
  std::string revision;  // pinned revision, or `sha256:<12 hex>` of the weights
  std::string weights_sha256;
  std::string folder;
  /// A registered name, or `starter`, that a models file leads elsewhere than to its own weights.
  bool remapped = false;
  /// The models file and the entry that `folder` comes from, for messages; else empty.
  std::string models_file_entry;
  /// The registered weights of a registered name.
  bool pinned = false;
  /// Whether `folder` is a snapshot of the hub.
  bool from_hub = false;
};

/// What is true of the weights that a models file put behind `identity.name`, for the warning that
/// it did: "and not to its own weights", or that they are its own. REQUIRES: `identity.remapped`.
std::string mapped_to(const ModelIdentity& identity);

/// Owner of everything one model needs. Thread-safety: const calls may come from any thread; the
/// caller serialises the sessions' and exact_session().
class LoadedModel {
 public:
  /// Errors: as Model::open.
  static Result<std::unique_ptr<LoadedModel>> load(const ModelIdentity& identity,
                                                   const ModelOptions& options);

  /// Whether load() would take the files of `folder`, as far as that is known without the weights'
  /// numbers. Errors: as Model::open.
  static Status check(const std::string& folder);

  const ModelIdentity& identity() const { return identity_; }
  const encoder::EncoderConfig& encoder_config() const { return weights_.config; }
  const checkpoint::AgentConfig& agent_config() const { return folder_.config; }
  const decision::Calibration& calibration() const { return calibration_; }
  const PromptTools& tools() const { return tools_; }
  const tokenizer::Tokenizer& tokens() const { return *tokenizer_; }
  std::string_view isa() const { return isa_; }
  /// The number format in use; never `auto`.
  const std::string& dtype() const { return dtype_; }
  /// Whether it computes less exactly than float32 would with these weights.
  bool is_reduced() const { return reduced_; }
  /// What whoever reads its answers should know about the number format, or empty.
  const std::string& format_warning() const { return format_warning_; }
  /// `trained`, `random`, or `unknown` where the checkpoint does not say.
  std::string_view weights_origin() const;
  /// What a parity record of this model in this process depends on.
  validation::RecordKey record_key() const;

  /// One caller at a time.
  backends::Session& session() { return *session_; }
  /// The same weights in float32; loaded on the first call, beside the others. One caller at a
  /// time. Errors: kInternal when there is no memory for them.
  Result<backends::Session*> exact_session();
  bool has_exact_session() const { return exact_session_ != nullptr; }

 private:
  LoadedModel(checkpoint::CheckpointFolder folder, const ModelOptions& options)
      : folder_(std::move(folder)), options_(options), log_(options_.log) {}
  static Result<std::unique_ptr<LoadedModel>> read(const std::string& folder,
                                                   const ModelOptions& options);
  Status load_tokenizer();
  Status bind_weights();
  Status replace_calibration();
  Status load_weights();
  Status check_finite();
  std::string parity_command() const;
  void choose_format();
  Result<std::unique_ptr<backends::Session>> open_session(std::string_view dtype);

  ModelIdentity identity_;
  checkpoint::CheckpointFolder folder_;
  ModelOptions options_;
  FunctionLog log_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<tokenizer::IdCache> id_cache_;
  std::unique_ptr<decision::TextEncoder> text_encoder_;
  PromptTools tools_;
  decision::Calibration calibration_;
  encoder::ModelWeights weights_;
  const kernels::KernelTable* kernels_ = nullptr;
  std::string isa_;
  std::string dtype_;
  bool reduced_ = false;
  std::string format_warning_;
  std::unique_ptr<backends::Session> session_;
  std::unique_ptr<backends::Session> exact_session_;
};

}  // namespace layard::runtime
