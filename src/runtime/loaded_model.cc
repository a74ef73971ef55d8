#include "runtime/loaded_model.h"

#include "backends/cpu/cpu_count.h"
#include "backends/cpu/cpu_model.h"
#include "backends/cpu/cpu_session.h"
#include "base/filesystem.h"
#include "kernels/kernels.h"
#include "tokenizer/special_tokens.h"

namespace layard::runtime {
namespace {

// Prompt texts to ids through the exact cache.
class CachedEncoder final : public decision::TextEncoder {
 public:
  CachedEncoder(std::shared_ptr<const tokenizer::Tokenizer> tokens, tokenizer::IdCache& cache)
      : tokens_(std::move(tokens)), cache_(cache) {}

  std::vector<std::int32_t> encode(std::string_view text) const override {
    if (auto known = cache_.find(text)) return *std::move(known);
    std::vector<std::int32_t> ids;
    tokens_->encode(text, ids);
    cache_.insert(text, ids);
    return ids;
  }

 private:
  std::shared_ptr<const tokenizer::Tokenizer> tokens_;
  tokenizer::IdCache& cache_;
};

}  // namespace

Status LoadedModel::load_tokenizer(const ModelOptions& options) {
  const std::string path = folder_.files.tokenizer.string();
  LAYARD_ASSIGN(
      const std::string json,
      base::real_filesystem().read_text(folder_.files.tokenizer, checkpoint::kTokenizerBytesMax));
  auto tokens = tokenizer::Tokenizer::from_json(json);
  if (!tokens.ok()) return Error{tokens.error().code, "'" + path + "': " + tokens.error().message};
  tokenizer_ = *std::move(tokens);
  LAYARD_ASSIGN(const tokenizer::SpecialTokens special,
                tokenizer::SpecialTokens::from_config(folder_.tokenizer_config, *tokenizer_));
  tools_.spec.max_len = static_cast<int>(folder_.config.max_len);
  tools_.spec.head_max_len = static_cast<int>(folder_.config.head_max_len);
  tools_.spec.cls_id = special.cls_id;
  tools_.spec.sep_id = special.sep_id;
  tools_.spec.mask_id = special.mask_id;
  tools_.spec.pad_id = special.pad_id;
  tools_.spec.mask_text = special.mask_text;
  tools_.spec.parallel_options =
      folder_.config.option_layout == checkpoint::OptionLayout::kParallel;
  id_cache_ = std::make_unique<tokenizer::IdCache>(options.environment.token_cache_entries);
  text_encoder_ = std::make_unique<CachedEncoder>(tokenizer_, *id_cache_);
  tools_.encoder = text_encoder_.get();
  tools_.decode = [tokens = tokenizer_](std::span<const std::int32_t> ids) {
    return tokens->decode(ids);
  };
  return {};
}

Status LoadedModel::load_weights(const ModelOptions& options) {
  const std::string encoder_file = folder_.files.encoder_config.string();
  LAYARD_ASSIGN(const encoder::EncoderConfig config,
                encoder::EncoderConfig::parse(folder_.encoder_config, encoder_file));
  const auto tokens = static_cast<std::int64_t>(tokenizer_->vocab_size());
  if (tokens > config.vocab_size) {
    return Error{ErrorCode::kUnsupportedModel,
                 "'" + folder_.files.folder.string() + "': the tokenizer has " +
                     std::to_string(tokens) + " tokens but the encoder only " +
                     std::to_string(config.vocab_size) + " embeddings"};
  }
  const encoder::HeadConfig head{static_cast<int>(folder_.config.head_layers),
                                 static_cast<int>(folder_.config.act_outputs)};
  LAYARD_ASSIGN(weights_, encoder::ModelWeights::bind(
                              config, head, folder_.weights.names(),
                              [this](std::string_view name) { return folder_.weights.find(name); },
                              folder_.files.folder.string()));
  LAYARD_TRY(folder_.weights.check_finite());
  LAYARD_ASSIGN(const kernels::KernelTable* table,
                kernels::select_kernels(options.environment.force_isa));
  LAYARD_TRY(kernels::self_test(*table));
  isa_ = table->name;
  backends::cpu::CpuOptions cpu;
  cpu.threads = options.environment.threads;
  const int threads = cpu.threads > 0 ? cpu.threads : backends::cpu::cpu_count();
  // The mapping outlives the session: `folder_` is destroyed last.
  LAYARD_ASSIGN(auto model, backends::cpu::CpuModel::create(weights_, nullptr, *table, threads));
  LAYARD_ASSIGN(session_, backends::cpu::CpuSession::open(std::move(model), cpu));
  return {};
}

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const ModelIdentity& identity,
                                                       const ModelOptions& options) {
  LAYARD_ASSIGN(checkpoint::CheckpointFolder folder,
                checkpoint::CheckpointFolder::open(identity.folder));
  std::unique_ptr<LoadedModel> model(new LoadedModel(std::move(folder)));
  model->identity_ = identity;
  base::JsonValue temperatures = base::JsonValue::object();
  temperatures.set("temperature", model->folder_.config.temperature);
  temperatures.set("temperature_by_options", model->folder_.config.temperature_by_options);
  LAYARD_ASSIGN(model->calibration_, decision::Calibration::from_config(temperatures));
  LAYARD_TRY(model->load_tokenizer(options));
  LAYARD_TRY(model->load_weights(options));
  if (!model->calibration_.warning().empty() && options.log) {
    options.log("warning", model->calibration_.warning());
  }
  if (identity.remapped && options.log) {
    options.log("warning", "model '" + identity.name + "' is mapped to '" + identity.folder +
                               "' and not to its pinned weights");
  }
  return model;
}

}  // namespace layard::runtime
