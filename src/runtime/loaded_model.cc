#include "runtime/loaded_model.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "backends/cpu/cpu_count.h"
#include "backends/cpu/cpu_model.h"
#include "backends/cpu/cpu_session.h"
#include "base/filesystem.h"
#include "base/sha256.h"
#include "checkpoint/registry.h"
#include "checkpoint/verified_file.h"
#include "kernels/kernels.h"
#include "layard/words.h"
#include "runtime/calibration_override.h"
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

// Names in a folder, at most some thousand: whether one more has come.
std::set<std::string> names_in(const std::filesystem::path& folder) {
  constexpr std::size_t kNamesMax = 4096;
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end && names.size() < kNamesMax; at.increment(error)) {
    names.insert(at->path().filename().string());
  }
  return names;
}

// BERT looks positions up in a table; rows behind its end could not be computed.
Status check_positions(const checkpoint::CheckpointFolder& folder,
                       const encoder::EncoderConfig& config) {
  if (config.family != encoder::EncoderFamily::kBert) return {};
  if (folder.config.max_len <= config.positions_max) return {};
  return Error{ErrorCode::kUnsupportedModel,
               "'" + folder.files.folder.string() + "': 'max_len' in rl_agent_config.json is " +
                   std::to_string(folder.config.max_len) +
                   " but 'max_position_embeddings' in encoder/config.json only " +
                   std::to_string(config.positions_max) + "; lower max_len to that"};
}

}  // namespace

std::string mapped_to(const ModelIdentity& identity) {
  const checkpoint::ModelSpec* spec = checkpoint::find_spec(identity.name);
  if (spec == nullptr) return "and not to the installed checkpoint";
  if (spec->weights().sha256 != identity.weights_sha256) return "and not to its own weights";
  return "by the models file; the weights there are its own, the other files are not compared";
}

Status LoadedModel::load_tokenizer() {
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
  id_cache_ = std::make_unique<tokenizer::IdCache>(options_.environment.token_cache_entries);
  text_encoder_ = std::make_unique<CachedEncoder>(tokenizer_, *id_cache_);
  tools_.encoder = text_encoder_.get();
  tools_.decode = [tokens = tokenizer_](std::span<const std::int32_t> ids) {
    return tokens->decode(ids);
  };
  return {};
}

// Weights that were found finite stay so until their file changes.
Status LoadedModel::check_finite() {
  const checkpoint::StampStore stamps{base::real_filesystem(), options_.environment.cache_dir,
                                      log_};
  // With the hash, so that a file put in the place of the one that was read gets no mark from it.
  const checkpoint::Mark mark{"finite", identity_.weights_sha256};
  if (checkpoint::has_mark(stamps, folder_.files.weights, mark)) return {};
  LAYARD_TRY(folder_.weights.check_finite());
  checkpoint::set_mark(stamps, folder_.files.weights, mark);
  return {};
}

Status LoadedModel::bind_weights() {
  const std::string encoder_file = folder_.files.encoder_config.string();
  LAYARD_ASSIGN(const encoder::EncoderConfig config,
                encoder::EncoderConfig::parse(folder_.encoder_config, encoder_file));
  LAYARD_TRY(check_positions(folder_, config));
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
  return {};
}

Status LoadedModel::load_weights() {
  LAYARD_TRY(check_finite());
  LAYARD_ASSIGN(kernels_, choose_kernels(options_.environment));
  LAYARD_TRY(kernels::self_test(*kernels_));
  isa_ = kernels_->name;
  choose_format();
  const int threads =
      options_.environment.threads > 0 ? options_.environment.threads : backends::cpu::cpu_count();
  log_.write(base::LogLevel::kDebug,
             "model '" + identity_.name + "' from '" + identity_.folder + "': " + dtype_ +
                 ", kernels " + isa_ + (options_.environment.force_isa.empty() ? "" : " (forced)") +
                 ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  LAYARD_ASSIGN(session_, open_session(dtype_));
  return {};
}

// The command that measures this model, ready for a shell.
std::string LoadedModel::parity_command() const {
  const Environment& environment = options_.environment;
  std::string command = "layard ";
  if (!environment.force_isa.empty()) command += "--isa " + environment.force_isa + " ";
  if (!identity_.models_file_entry.empty()) {
    command += "--models " + shell_quoted(environment.models_file) + " ";
  }
  return command + "parity " + shell_quoted(options_.model);
}

void LoadedModel::choose_format() {
  dtype_ = options_.dtype;
  const std::string command = parity_command();
  const std::string& cache = options_.environment.cache_dir;
  if (dtype_ == "auto") {
    dtype_ = choose_dtype(cache, record_key(), command, log_);
  } else {
    format_warning_ = failed_record(cache, record_key(), command, log_);
  }
  // float16 rounds only what is not stored in float16 already.
  const auto& names = folder_.weights.names();
  const bool stored = std::all_of(names.begin(), names.end(), [this](const std::string& name) {
    return folder_.weights.find(name)->dtype == tensor::DType::kFloat16;
  });
  reduced_ = dtype_ != "float32" && !(dtype_ == "float16" && stored);
}

Result<std::unique_ptr<backends::Session>> LoadedModel::open_session(std::string_view dtype) {
  const Environment& environment = options_.environment;
  backends::cpu::CpuOptions cpu;
  cpu.threads = environment.threads;
  const int threads = cpu.threads > 0 ? cpu.threads : backends::cpu::cpu_count();
  backends::cpu::CpuModel::Options packing;
  packing.type =
      backends::cpu::parse_compute_type(dtype).value_or(backends::cpu::ComputeType::kFloat32);
  packing.threads = threads;
  const bool keep = environment.cache_bytes_max > 0 && !environment.cache_dir.empty();
  backends::cpu::PackedCache cache({environment.cache_dir, environment.cache_bytes_max}, log_);
  packing.cache = keep ? &cache : nullptr;
  packing.key.weights_sha256 = identity_.weights_sha256;
  packing.key.config_sha256 = base::sha256_hex(folder_.encoder_config + "\nhead " +
                                               std::to_string(folder_.config.head_layers) + " " +
                                               std::to_string(folder_.config.act_outputs));
  const auto folder = std::filesystem::path(environment.cache_dir) / "packed";
  const std::set<std::string> before = keep ? names_in(folder) : std::set<std::string>();
  // The mapping outlives the session: `folder_` is destroyed last.
  LAYARD_ASSIGN(auto model, backends::cpu::CpuModel::create(weights_, nullptr, *kernels_, packing));
  const bool written = model->is_mapped() && !std::ranges::includes(before, names_in(folder));
  log_.write(base::LogLevel::kDebug, std::string("packed weights (") + std::string(dtype) + "): " +
                                         (!model->is_mapped() ? "in memory, not kept"
                                          : written           ? "not in the cache, packed and kept"
                                                              : "mapped from the cache"));
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

// The whole of it, also what parity records are known by: what was measured with other temperatures
// says nothing here.
Status LoadedModel::replace_calibration() {
  if (options_.calibration_file.empty()) return {};
  LAYARD_ASSIGN(decision::CalibrationFile file,
                read_calibration(options_.calibration_file, identity_, log_));
  calibration_ = std::move(file.calibration);
  folder_.config.temperature = std::move(file.temperature);
  folder_.config.temperature_by_options = std::move(file.temperature_by_options);
  return {};
}

// Everything that is said in the folder's files, and nothing that takes the weights' numbers.
Result<std::unique_ptr<LoadedModel>> LoadedModel::read(const std::string& folder,
                                                       const ModelOptions& options) {
  LAYARD_ASSIGN(checkpoint::CheckpointFolder opened, checkpoint::CheckpointFolder::open(folder));
  std::unique_ptr<LoadedModel> model(new LoadedModel(std::move(opened), options));
  base::JsonValue temperatures = base::JsonValue::object();
  temperatures.set("temperature", model->folder_.config.temperature);
  temperatures.set("temperature_by_options", model->folder_.config.temperature_by_options);
  LAYARD_ASSIGN(model->calibration_, decision::Calibration::from_config(temperatures));
  LAYARD_TRY(model->load_tokenizer());
  LAYARD_TRY(model->bind_weights());
  return model;
}

Status LoadedModel::check(const std::string& folder) {
  const auto model = read(folder, ModelOptions());
  return model.ok() ? Status() : Status(model.error());
}

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const ModelIdentity& identity,
                                                       const ModelOptions& options) {
  auto opened = read(identity.folder, options);
  if (!opened.ok()) {
    Error error = opened.error();
    // No hash pins its small files: a bad mirror may have sent them.
    if (identity.from_hub) {
      error.message += "; `layard download " + identity.name + "` fetches what is wrong again";
    }
    return error;
  }
  std::unique_ptr<LoadedModel> model = *std::move(opened);
  model->identity_ = identity;
  LAYARD_TRY(model->replace_calibration());
  LAYARD_TRY(model->load_weights());
  if (!model->calibration_.warning().empty()) {
    model->log_.write(base::LogLevel::kWarning, model->calibration_.warning());
  }
  if (identity.remapped) {
    model->log_.write(base::LogLevel::kWarning, "model '" + identity.name + "' is mapped to '" +
                                                    identity.folder + "' " + mapped_to(identity));
  }
  return model;
}

}  // namespace layard::runtime
