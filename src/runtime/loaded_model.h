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
#include "layard/model.h"
#include "runtime/prepare.h"
#include "tokenizer/id_cache.h"
#include "tokenizer/tokenizer.h"

namespace layard::runtime {

/// Which checkpoint a name stands for, found on this machine.
struct ModelIdentity {
  std::string name;      // `laya`, or the folder as given
  std::string revision;  // pinned revision, or `sha256:<12 hex>` of the weights
  std::string weights_sha256;
  std::string folder;
  /// A registered name that a models file leads elsewhere than to its pin.
  bool remapped = false;
};

/// Owner of everything one model needs. Thread-safety: all but run() are const; run() is
/// serialised by the caller.
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

  /// One caller at a time.
  Status run(std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
    return session_->run(rows, outputs);
  }

 private:
  explicit LoadedModel(checkpoint::CheckpointFolder folder) : folder_(std::move(folder)) {}
  Status load_tokenizer(const ModelOptions& options);
  Status load_weights(const ModelOptions& options);

  ModelIdentity identity_;
  checkpoint::CheckpointFolder folder_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<tokenizer::IdCache> id_cache_;
  std::unique_ptr<decision::TextEncoder> text_encoder_;
  PromptTools tools_;
  decision::Calibration calibration_;
  encoder::ModelWeights weights_;
  std::unique_ptr<backends::Session> session_;
  std::string isa_;
};

}  // namespace layard::runtime
