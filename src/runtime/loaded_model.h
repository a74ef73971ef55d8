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
  /// A registered name that a models file leads elsewhere than to its pin.
  bool remapped = false;
  /// The registered weights of a registered name.
  bool pinned = false;
};

/// Owner of everything one model needs. Thread-safety: const calls may come from any thread; the
/// caller serialises the sessions' and exact_session().
class LoadedModel {
 public:
  /// Errors: as Model::open.
  static Result<std::unique_ptr<LoadedModel>> load(const ModelIdentity& identity,
                                                   const ModelOptions& options);

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
      : folder_(std::move(folder)), options_(options) {}
  Status load_tokenizer(const ModelOptions& options);
  Status load_weights(const ModelOptions& options);
  Status check_finite(const ModelOptions& options);
  void choose_format();
  Result<std::unique_ptr<backends::Session>> open_session(std::string_view dtype) const;

  ModelIdentity identity_;
  checkpoint::CheckpointFolder folder_;
  ModelOptions options_;
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
  std::unique_ptr<backends::Session> session_;
  std::unique_ptr<backends::Session> exact_session_;
};

}  // namespace layard::runtime
