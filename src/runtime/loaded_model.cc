#include "runtime/loaded_model.h"

#include <algorithm>

#include "backends/cpu/cpu_count.h"
#include "backends/cpu/cpu_model.h"
#include "backends/cpu/cpu_session.h"
#include "base/filesystem.h"
#include "base/sha256.h"
#include "checkpoint/verified_file.h"
#include "kernels/kernels.h"
#include "runtime/devices.h"
#include "runtime/dtype_choice.h"
#include "runtime/platform.h"
#include "runtime/resolve.h"
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
  LAYARD_ASSIGN(tokenizer_, tokenizer::Tokenizer::from_file(folder_.files.tokenizer));
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

// Weights that were found finite stay so until their file changes.
Status LoadedModel::check_finite(const ModelOptions& options) {
  FunctionLog log(options.log);
  const checkpoint::StampStore stamps{base::real_filesystem(), options.environment.cache_dir, log};
  const checkpoint::Mark mark{"finite", "all"};
  if (checkpoint::has_mark(stamps, folder_.files.weights, mark)) return {};
  LAYARD_TRY(folder_.weights.check_finite());
  checkpoint::set_mark(stamps, folder_.files.weights, mark);
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
  LAYARD_TRY(check_finite(options));
  LAYARD_ASSIGN(kernels_, choose_kernels(options.environment));
  LAYARD_TRY(kernels::self_test(*kernels_));
  isa_ = kernels_->name;
  choose_format();
  LAYARD_ASSIGN(session_, open_session(dtype_));
  return {};
}

void LoadedModel::choose_format() {
  dtype_ = options_.dtype;
  if (dtype_ == "auto") {
    FunctionLog log(options_.log);
    const std::string& isa = options_.environment.force_isa;
    const std::string command =
        "layard " + (isa.empty() ? "" : "--isa " + isa + " ") + "parity " + options_.model;
    dtype_ = choose_dtype(options_.environment.cache_dir, record_key(), command, log);
  }
  // float16 rounds only what is not stored in float16 already.
  const auto& names = folder_.weights.names();
  const bool stored = std::all_of(names.begin(), names.end(), [this](const std::string& name) {
    return folder_.weights.find(name)->dtype == tensor::DType::kFloat16;
  });
  reduced_ = dtype_ != "float32" && !(dtype_ == "float16" && stored);
}

Result<std::unique_ptr<backends::Session>> LoadedModel::open_session(std::string_view dtype) const {
  const Environment& environment = options_.environment;
  backends::cpu::CpuOptions cpu;
  cpu.threads = environment.threads;
  const int threads = cpu.threads > 0 ? cpu.threads : backends::cpu::cpu_count();
  backends::cpu::CpuModel::Options packing;
  packing.type =
      backends::cpu::parse_compute_type(dtype).value_or(backends::cpu::ComputeType::kFloat32);
  packing.threads = threads;
  FunctionLog log(options_.log);
  const bool keep = environment.cache_bytes_max > 0 && !environment.cache_dir.empty();
  backends::cpu::PackedCache cache({environment.cache_dir, environment.cache_bytes_max}, log);
  packing.cache = keep ? &cache : nullptr;
  packing.key.weights_sha256 = identity_.weights_sha256;
  packing.key.config_sha256 = base::sha256_hex(folder_.encoder_config + "\nhead " +
                                               std::to_string(folder_.config.head_layers) + " " +
                                               std::to_string(folder_.config.act_outputs));
  // The mapping outlives the session: `folder_` is destroyed last.
  LAYARD_ASSIGN(auto model, backends::cpu::CpuModel::create(weights_, nullptr, *kernels_, packing));
  folder_.weights.forget_pages();  // what is read from now on: rows of the embedding table
  LAYARD_ASSIGN(auto session, backends::cpu::CpuSession::open(std::move(model), cpu));
  return std::unique_ptr<backends::Session>(std::move(session));
}

Result<backends::Session*> LoadedModel::exact_session() {
  if (exact_session_ == nullptr) {
    auto session = open_session("float32");
    if (!session.ok()) {
      return Error{session.error().code, "a near tie of " + dtype_ +
                                             " is decided by float32: " + session.error().message +
                                             "; or turn tie_recheck off (--no-tie-recheck)"};
    }
    exact_session_ = *std::move(session);
  }
  return exact_session_.get();
}

std::string_view LoadedModel::weights_origin() const {
  if (folder_.config.random_weights) return "random";
  return identity_.pinned || folder_.config.training_recorded ? "trained" : "unknown";
}

validation::RecordKey LoadedModel::record_key() const {
  validation::RecordKey key;
  key.weights_sha256 = identity_.weights_sha256;
  // Probabilities depend on the temperatures, and these may change without the weights.
  const auto text = [](const base::JsonValue& value) {
    return write_json(value, base::JsonStyle::kCompact);
  };
  key.config_sha256 =
      base::sha256_hex(folder_.encoder_config + "\n" + text(folder_.config.temperature) + "\n" +
                       text(folder_.config.temperature_by_options));
  key.dtype = dtype_;
  key.isa = isa_;
  key.kernels = kernels::isa_code_hash(kernels_->isa);
  key.build = build_identity();
  key.processor = processor_name();
  return key;
}

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const ModelIdentity& identity,
                                                       const ModelOptions& options) {
  LAYARD_ASSIGN(checkpoint::CheckpointFolder folder,
                checkpoint::CheckpointFolder::open(identity.folder));
  std::unique_ptr<LoadedModel> model(new LoadedModel(std::move(folder), options));
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
