#include "encoder/config.h"

#include <cmath>
#include <tuple>

#include "base/json.h"

namespace layard::encoder {
namespace {

using base::JsonValue;

// Larger than any published encoder by far; keeps products of sizes inside 64 bits.
constexpr int kSizeMax = 1 << 24;

class Reader {
 public:
  Reader(const JsonValue& root, const std::string& file) : root_(root), file_(file) {}

  Error wrong(ErrorCode code, const std::string& what) const { return {code, file_ + ": " + what}; }

  Result<int> size(const char* key) const {
    const JsonValue* value = root_.find(key);
    if (value == nullptr) {
      return wrong(ErrorCode::kUnsupportedModel, std::string("'") + key + "' is missing");
    }
    const auto number = value->as_int64();
    if (!number || *number < 1 || *number > kSizeMax) {
      return wrong(ErrorCode::kUnsupportedModel, std::string("'") + key +
                                                     "' must be a whole number from 1 to " +
                                                     std::to_string(kSizeMax));
    }
    return static_cast<int>(*number);
  }

  Result<int> size_or(const char* key, int fallback) const {
    if (absent(key)) return fallback;
    return size(key);
  }

  Result<bool> flag(const char* key) const {
    if (absent(key)) return false;
    if (!root_.find(key)->is_bool()) {
      return wrong(ErrorCode::kArtifactIntegrity,
                   std::string("'") + key + "' must be true or false");
    }
    return root_.find(key)->as_bool();
  }

  Result<double> positive(const JsonValue& object, const char* key, double fallback) const {
    const JsonValue* value = object.find(key);
    if (value == nullptr || value->is_null()) return fallback;
    const double number = value->as_double();
    if (!value->is_number() || !(number > 0) || !std::isfinite(number)) {
      return wrong(ErrorCode::kArtifactIntegrity,
                   std::string("'") + key + "' must be a positive number");
    }
    return number;
  }

  Status text_is(const JsonValue& object, const char* key, std::string_view wanted) const {
    const JsonValue* value = object.find(key);
    if (value == nullptr || value->is_null()) return {};
    if (value->is_string() && value->text() == wanted) return {};
    return wrong(ErrorCode::kUnsupportedModel,
                 std::string("'") + key + "' " +
                     base::write_json(*value, base::JsonStyle::kPython).substr(0, 60) +
                     " is not implemented; only '" + std::string(wanted) + "' is");
  }

  bool absent(const char* key) const {
    const JsonValue* value = root_.find(key);
    return value == nullptr || value->is_null();
  }

  const JsonValue& root() const { return root_; }

 private:
  const JsonValue& root_;
  const std::string& file_;
};

// One layer's settings in `rope_parameters`; `fallback` is the old form's or the default theta.
Result<double> rope_theta(const Reader& reader, const JsonValue& settings, double fallback) {
  if (!settings.is_object()) {
    return reader.wrong(ErrorCode::kArtifactIntegrity, "'rope_parameters' must hold objects");
  }
  LAYARD_TRY(reader.text_is(settings, "rope_type", "default"));
  return reader.positive(settings, "rope_theta", fallback);
}

Status read_rope(const Reader& reader, EncoderConfig& config) {
  LAYARD_ASSIGN(config.rope_theta_full,
                reader.positive(reader.root(), "global_rope_theta", 160000.0));
  LAYARD_ASSIGN(config.rope_theta_sliding,
                reader.positive(reader.root(), "local_rope_theta", 10000.0));
  if (reader.absent("rope_parameters")) return {};
  const JsonValue& rope = *reader.root().find("rope_parameters");
  const JsonValue* full = rope.find("full_attention");
  const JsonValue* sliding = rope.find("sliding_attention");
  if (full == nullptr && sliding == nullptr) {  // flat: one setting for both
    LAYARD_ASSIGN(config.rope_theta_full, rope_theta(reader, rope, config.rope_theta_full));
    LAYARD_ASSIGN(config.rope_theta_sliding,
                  rope_theta(reader, rope,
                             rope.find("rope_theta") != nullptr ? config.rope_theta_full
                                                                : config.rope_theta_sliding));
    return {};
  }
  if (full != nullptr) {
    LAYARD_ASSIGN(config.rope_theta_full, rope_theta(reader, *full, config.rope_theta_full));
  }
  if (sliding != nullptr) {
    LAYARD_ASSIGN(config.rope_theta_sliding,
                  rope_theta(reader, *sliding, config.rope_theta_sliding));
  }
  return {};
}

Status read_layer_types(const Reader& reader, EncoderConfig& config) {
  LAYARD_ASSIGN(const int every, reader.size_or("global_attn_every_n_layers", 3));
  for (int i = 0; i < config.layers; ++i) {
    config.layer_attention.push_back(i % every == 0 ? LayerAttention::kFull
                                                    : LayerAttention::kSliding);
  }
  if (reader.absent("layer_types")) return {};
  const JsonValue& types = *reader.root().find("layer_types");
  if (!types.is_array() || types.size() != static_cast<std::size_t>(config.layers)) {
    return reader.wrong(ErrorCode::kUnsupportedModel,
                        "'layer_types' must list one type for each of the " +
                            std::to_string(config.layers) + " layers");
  }
  for (int i = 0; i < config.layers; ++i) {
    const JsonValue& type = types.items()[static_cast<std::size_t>(i)];
    auto& layer = config.layer_attention[static_cast<std::size_t>(i)];
    if (type.is_string() && type.text() == "full_attention") {
      layer = LayerAttention::kFull;
    } else if (type.is_string() && type.text() == "sliding_attention") {
      layer = LayerAttention::kSliding;
    } else {
      return reader.wrong(ErrorCode::kUnsupportedModel,
                          "'layer_types' entry " + std::to_string(i) +
                              " is neither 'full_attention' nor 'sliding_attention'");
    }
  }
  return {};
}

Status read_modernbert(const Reader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kModernBert;
  LAYARD_TRY(reader.text_is(reader.root(), "hidden_activation", "gelu"));
  LAYARD_ASSIGN(const double old_eps, reader.positive(reader.root(), "layer_norm_eps", 1e-5));
  LAYARD_ASSIGN(const double eps, reader.positive(reader.root(), "norm_eps", old_eps));
  config.norm_eps = static_cast<float>(eps);
  LAYARD_ASSIGN(config.norm_bias, reader.flag("norm_bias"));
  LAYARD_ASSIGN(config.attention_bias, reader.flag("attention_bias"));
  LAYARD_ASSIGN(config.mlp_bias, reader.flag("mlp_bias"));
  LAYARD_ASSIGN(const int window, reader.size_or("local_attention", 128));
  config.half_window = window / 2;
  LAYARD_ASSIGN(config.positions_max, reader.size_or("max_position_embeddings", 8192));
  LAYARD_TRY(read_rope(reader, config));
  return read_layer_types(reader, config);
}

Status read_bert(const Reader& reader, EncoderConfig& config) {
  config.family = EncoderFamily::kBert;
  LAYARD_TRY(reader.text_is(reader.root(), "hidden_act", "gelu"));
  LAYARD_TRY(reader.text_is(reader.root(), "position_embedding_type", "absolute"));
  LAYARD_ASSIGN(const double eps, reader.positive(reader.root(), "layer_norm_eps", 1e-12));
  config.norm_eps = static_cast<float>(eps);
  LAYARD_ASSIGN(config.positions_max, reader.size_or("max_position_embeddings", 512));
  LAYARD_ASSIGN(config.token_types, reader.size_or("type_vocab_size", 2));
  config.norm_bias = config.attention_bias = config.mlp_bias = true;
  config.layer_attention.assign(static_cast<std::size_t>(config.layers), LayerAttention::kFull);
  return {};
}

}  // namespace

Result<EncoderConfig> EncoderConfig::parse(std::string_view json, const std::string& file_name) {
  base::JsonLimits limits;
  limits.bytes_max = std::size_t{4} << 20;
  auto parsed = base::parse_json(json, limits);
  if (!parsed.ok() || !parsed->is_object()) {
    return Error{ErrorCode::kArtifactIntegrity,
                 file_name + ": not a JSON object" +
                     (parsed.ok() ? std::string() : " (" + parsed.error().message + ")")};
  }
  const Reader reader(*parsed, file_name);
  const JsonValue* type = parsed->find("model_type");
  const std::string model_type = type != nullptr && type->is_string() ? type->text() : "";
  if (model_type != "modernbert" && model_type != "bert") {
    return reader.wrong(ErrorCode::kUnsupportedModel,
                        "model_type '" + model_type.substr(0, 60) +
                            "' is not implemented; 'modernbert' and 'bert' are");
  }
  EncoderConfig config;
  LAYARD_ASSIGN(config.vocab_size, reader.size("vocab_size"));
  LAYARD_ASSIGN(config.hidden_size, reader.size("hidden_size"));
  LAYARD_ASSIGN(config.intermediate_size, reader.size("intermediate_size"));
  LAYARD_ASSIGN(config.layers, reader.size("num_hidden_layers"));
  LAYARD_ASSIGN(config.heads, reader.size("num_attention_heads"));
  for (const auto& [name, value, most] :
       {std::tuple{"num_hidden_layers", config.layers, 1024},
        {"hidden_size", config.hidden_size, 65536},
        {"intermediate_size", config.intermediate_size, 1 << 20}}) {
    if (value > most) {
      return reader.wrong(ErrorCode::kUnsupportedModel,
                          std::string(name) + " is " + std::to_string(value) + ", more than the " +
                              std::to_string(most) + " that are supported");
    }
  }
  const int head_heads = std::max(1, config.hidden_size / 64);
  if (config.hidden_size % config.heads != 0 || config.head_dim() % 2 != 0) {
    return reader.wrong(ErrorCode::kUnsupportedModel,
                        "hidden_size " + std::to_string(config.hidden_size) +
                            " does not split into " + std::to_string(config.heads) +
                            " heads of an even size");
  }
  if (config.hidden_size % head_heads != 0) {
    return reader.wrong(ErrorCode::kUnsupportedModel,
                        "hidden_size " + std::to_string(config.hidden_size) +
                            " does not split into the decision head's " +
                            std::to_string(head_heads) + " heads");
  }
  LAYARD_TRY(model_type == "bert" ? read_bert(reader, config) : read_modernbert(reader, config));
  return config;
}

}  // namespace layard::encoder
