/// A tiny random checkpoint in the published layout, for tests that need a model but not sense.
///
/// The folder is complete: configs, a working tokenizer.json and weights with upstream's names and
/// shapes. Same options, same bytes. Not for comparing with upstream's outputs.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.h"
#include "tensor/tensor.h"

namespace layard::testing {

/// One tensor of a safetensors file to write; values are in row-major order.
struct TinyTensor {
  std::string name;
  tensor::Shape shape;
  std::vector<float> values;
};

/// The bytes of a safetensors file of `tensors`, in that order, all of `dtype`.
inline std::string safetensors_bytes(const std::vector<TinyTensor>& tensors, tensor::DType dtype) {
  const char* dtype_text = dtype == tensor::DType::kFloat32   ? "F32"
                           : dtype == tensor::DType::kFloat16 ? "F16"
                                                              : "BF16";
  std::string header = "{";
  std::string data;
  for (const TinyTensor& entry : tensors) {
    const std::size_t begin = data.size();
    for (const float value : entry.values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      if (dtype == tensor::DType::kFloat16) bits = tensor::float_to_float16(value);
      if (dtype == tensor::DType::kBFloat16) bits >>= 16U;
      data.append(reinterpret_cast<const char*>(&bits), tensor::dtype_bytes(dtype));
    }
    header += (header.size() > 1 ? "," : "") + ("\"" + entry.name) + "\":{\"dtype\":\"" +
              dtype_text + "\",\"shape\":[";
    for (std::size_t i = 0; i < entry.shape.size(); ++i) {
      header += (i > 0 ? "," : "") + std::to_string(entry.shape[i]);
    }
    header +=
        "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  while (header.size() % 8 != 0) header += ' ';
  std::string file;
  for (unsigned i = 0; i < 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
  return file + header + data;
}

struct TinyOptions {
  bool bert = false;  // else modernbert
  tensor::DType dtype = tensor::DType::kFloat32;
  std::int64_t hidden = 64;
  std::int64_t intermediate = 96;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t head_layers = 2;
  std::int64_t max_len = 128;
  std::int64_t head_max_len = 64;
  std::string option_layout = "sequential";
  std::uint64_t seed = 1;
};

/// Collects tensors of pseudo-random values (a fixed generator, equal on every machine).
class TinyWeights {
 public:
  explicit TinyWeights(std::uint64_t seed) : state_(seed * 2 + 1) {}

  /// Uniform values within +-scale around `center`.
  void add(const std::string& name, tensor::Shape shape, float center, float scale) {
    std::vector<float> values(tensor::element_count(shape));
    for (float& value : values) value = center + scale * next();
    tensors_.push_back({name, std::move(shape), std::move(values)});
  }
  void add_linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + "weight", {out, in}, 0.0F, 1.5F / std::sqrt(static_cast<float>(in)));
    add(name + "bias", {out}, 0.0F, 0.1F);
  }
  void add_norm(const std::string& name, std::int64_t size, bool bias) {
    add(name + "weight", {size}, 1.0F, 0.2F);
    if (bias) add(name + "bias", {size}, 0.0F, 0.1F);
  }
  std::vector<TinyTensor>& tensors() { return tensors_; }

 private:
  float next() {  // PCG-XSH-RR, 24 bits of it, to [-1, 1)
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto mixed = static_cast<std::uint32_t>(((state_ >> 18U) ^ state_) >> 27U);
    return static_cast<float>(mixed >> 8U) / 8388608.0F - 1.0F;
  }

  std::uint64_t state_;
  std::vector<TinyTensor> tensors_;
};

/// Number of tokens of tiny_tokenizer_json.
inline std::int64_t tiny_vocab_size(bool bert) { return bert ? 128 : 272; }

inline void add_modernbert(TinyWeights& weights, const TinyOptions& options) {
  const std::int64_t d = options.hidden;
  const float scale = 1.5F / std::sqrt(static_cast<float>(d));
  weights.add("encoder.embeddings.tok_embeddings.weight", {tiny_vocab_size(false), d}, 0.0F, 1.0F);
  weights.add_norm("encoder.embeddings.norm.", d, false);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i) + ".";
    if (i > 0) weights.add_norm(layer + "attn_norm.", d, false);
    weights.add(layer + "attn.Wqkv.weight", {3 * d, d}, 0.0F, scale);
    weights.add(layer + "attn.Wo.weight", {d, d}, 0.0F, scale);
    weights.add_norm(layer + "mlp_norm.", d, false);
    weights.add(layer + "mlp.Wi.weight", {2 * options.intermediate, d}, 0.0F, scale);
    weights.add(layer + "mlp.Wo.weight", {d, options.intermediate}, 0.0F, scale);
  }
  weights.add_norm("encoder.final_norm.", d, false);
}

inline void add_bert(TinyWeights& weights, const TinyOptions& options) {
  const std::int64_t d = options.hidden;
  weights.add("encoder.embeddings.word_embeddings.weight", {tiny_vocab_size(true), d}, 0.0F, 1.0F);
  weights.add("encoder.embeddings.position_embeddings.weight", {512, d}, 0.0F, 0.3F);
  weights.add("encoder.embeddings.token_type_embeddings.weight", {2, d}, 0.0F, 0.3F);
  weights.add_norm("encoder.embeddings.LayerNorm.", d, true);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string layer = "encoder.encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) {
      weights.add_linear(layer + "attention.self." + part + ".", d, d);
    }
    weights.add_linear(layer + "attention.output.dense.", d, d);
    weights.add_norm(layer + "attention.output.LayerNorm.", d, true);
    weights.add_linear(layer + "intermediate.dense.", options.intermediate, d);
    weights.add_linear(layer + "output.dense.", d, options.intermediate);
    weights.add_norm(layer + "output.LayerNorm.", d, true);
  }
  weights.add_linear("encoder.pooler.dense.", d, d);
}

inline void add_decision_head(TinyWeights& weights, const TinyOptions& options) {
  const std::int64_t d = options.hidden;
  for (std::int64_t j = 0; j < options.head_layers; ++j) {
    const std::string layer = "head.layers." + std::to_string(j) + ".";
    const float scale = 1.5F / std::sqrt(static_cast<float>(d));
    weights.add(layer + "self_attn.in_proj_weight", {3 * d, d}, 0.0F, scale);
    weights.add(layer + "self_attn.in_proj_bias", {3 * d}, 0.0F, 0.1F);
    weights.add_linear(layer + "self_attn.out_proj.", d, d);
    weights.add_linear(layer + "linear1.", 4 * d, d);
    weights.add_linear(layer + "linear2.", d, 4 * d);
    weights.add_norm(layer + "norm1.", d, true);
    weights.add_norm(layer + "norm2.", d, true);
  }
  weights.add("type_emb.weight", {3, d}, 0.0F, 0.3F);
  weights.add_norm("scorer.0.", d, true);
  weights.add_linear("scorer.1.", d, d);
  weights.add_linear("scorer.3.", 1, d);
  weights.add_linear("act_head.0.", 256, d + 4);
  weights.add_linear("act_head.2.", 2, 256);
  weights.add("temperature", {3}, 1.0F, 0.0F);
}

/// All weights of a tiny model, in file order.
inline std::vector<TinyTensor> tiny_weights(const TinyOptions& options) {
  TinyWeights weights(options.seed);
  if (options.bert) {
    add_bert(weights, options);
  } else {
    add_modernbert(weights, options);
  }
  add_decision_head(weights, options);
  return std::move(weights.tensors());
}

inline std::string tiny_encoder_config(const TinyOptions& options) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string sizes = "\"hidden_size\":" + number(options.hidden) +
                            ",\"intermediate_size\":" + number(options.intermediate) +
                            ",\"num_hidden_layers\":" + number(options.layers) +
                            ",\"num_attention_heads\":" + number(options.heads) +
                            ",\"vocab_size\":" + number(tiny_vocab_size(options.bert));
  if (options.bert) {
    return "{\"model_type\":\"bert\",\"architectures\":[\"BertModel\"]," + sizes +
           ",\"hidden_act\":\"gelu\",\"layer_norm_eps\":1e-12,\"max_position_embeddings\":512,"
           "\"type_vocab_size\":2,\"pad_token_id\":0}\n";
  }
  return "{\"model_type\":\"modernbert\",\"architectures\":[\"ModernBertModel\"]," + sizes +
         ",\"hidden_activation\":\"gelu\",\"norm_eps\":1e-05,\"norm_bias\":false,"
         "\"attention_bias\":false,\"mlp_bias\":false,\"local_attention\":16,"
         "\"global_attn_every_n_layers\":3,\"global_rope_theta\":160000.0,"
         "\"local_rope_theta\":10000.0,\"max_position_embeddings\":8192,\"pad_token_id\":259,"
         "\"cls_token_id\":257,\"sep_token_id\":258}\n";
}

inline std::string tiny_agent_config(const TinyOptions& options) {
  return "{\"encoder\":\"local/tiny\",\"head_layers\":" + std::to_string(options.head_layers) +
         ",\"max_len\":" + std::to_string(options.max_len) +
         ",\"head_max_len\":" + std::to_string(options.head_max_len) +
         ",\"act_costs\":{\"escalate\":0.5},\"amp_dtype\":\"bf16\",\"option_layout\":\"" +
         options.option_layout +
         "\",\"temperature\":[1.25,1.0,0.75],\"temperature_by_options\":{\"choice:3-5\":1.5}}\n";
}

/// `"[PAD]"` entry of added_tokens.
inline std::string tiny_added_token(int id, const std::string& content) {
  return "{\"id\":" + std::to_string(id) + ",\"content\":\"" + content +
         "\",\"single_word\":false,\"lstrip\":" + (content == "[MASK]" ? "true" : "false") +
         ",\"rstrip\":false,\"normalized\":false,\"special\":true}";
}

/// UTF-8 of a code point below U+0800.
inline std::string tiny_utf8(unsigned code_point) {
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  return {static_cast<char>(0xC0U | (code_point >> 6U)),
          static_cast<char>(0x80U | (code_point & 0x3FU))};
}

/// Byte-level BPE without the regular expression's help: 256 bytes (ids 0..255 in byte order),
/// [UNK] 256, [CLS] 257, [SEP] 258, [PAD] 259, [MASK] 260, eight merges 261..268, three spare ids.
inline std::string tiny_bytelevel_json() {
  std::string vocab;
  unsigned shifted = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    const std::string token = tiny_utf8(printable ? byte : shifted++);
    const bool escaped = token == "\"" || token == "\\";
    vocab += (escaped ? "\"\\" : "\"") + token + "\":" + std::to_string(byte) + ",";
  }
  const char* specials[] = {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};
  std::string added;
  int id = 256;
  for (const char* special : specials) {
    added += (added.empty() ? "" : ",") + tiny_added_token(id, special);
    vocab += "\"" + std::string(special) + "\":" + std::to_string(id++) + ",";
  }
  const std::pair<const char*, const char*> merges[] = {
      {"t", "h"}, {"th", "e"},         {"i", "n"},        {"e", "r"},
      {"a", "n"}, {"\xC4\xA0", "the"}, {"\xC4\xA0", "t"}, {"in", "g"}};
  std::string merge_list;
  for (const auto& [left, right] : merges) {
    vocab += "\"" + std::string(left) + right + "\":" + std::to_string(id++) + ",";
    merge_list +=
        (merge_list.empty() ? "[\"" : ",[\"") + std::string(left) + "\",\"" + right + "\"]";
  }
  for (; id < 272; ++id) {
    vocab += "\"<spare" + std::to_string(id) + ">\":" + std::to_string(id) + (id < 271 ? "," : "");
  }
  return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[" + added +
         "],\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\","
         "\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
         "\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
         "\"trim_offsets\":true,\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"dropout\":null,"
         "\"unk_token\":null,\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
         "\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":{" +
         vocab + "},\"merges\":[" + merge_list + "]}}\n";
}

/// WordPiece, lower-casing: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, then letters, digits and
/// punctuation as words, letters and digits as continuations, a few whole words.
inline std::string tiny_wordpiece_json() {
  std::vector<std::string> words{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::string added;
  for (int id = 0; id < 5; ++id) {
    added += (id == 0 ? "" : ",") + tiny_added_token(id, words[static_cast<std::size_t>(id)]);
  }
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (const char c : alphabet) words.emplace_back(1, c);
  for (const char c : alphabet) words.push_back(std::string("##") + c);
  for (const char c : std::string(".,:;!?()[]{}'-/_+=*#%&@$<>")) words.emplace_back(1, c);
  for (const char* word : {"the", "a1b", "##ing", "refund", "question", "choice", "order"}) {
    words.emplace_back(word);
  }
  while (words.size() < 128) words.push_back("[unused" + std::to_string(words.size()) + "]");
  std::string vocab;
  for (std::size_t id = 0; id < words.size(); ++id) {
    vocab += (id == 0 ? "\"" : ",\"") + words[id] + "\":" + std::to_string(id);
  }
  return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[" + added +
         "],\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
         "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
         "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"post_processor\":null,"
         "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
         "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
         "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{" +
         vocab + "}}}\n";
}

inline std::string tiny_tokenizer_json(bool bert) {
  return bert ? tiny_wordpiece_json() : tiny_bytelevel_json();
}

inline std::string tiny_tokenizer_config() {
  return "{\"tokenizer_class\":\"PreTrainedTokenizerFast\",\"cls_token\":\"[CLS]\","
         "\"sep_token\":\"[SEP]\",\"pad_token\":\"[PAD]\",\"mask_token\":{\"content\":\"[MASK]\"},"
         "\"unk_token\":\"[UNK]\"}\n";
}

/// Writes a complete checkpoint into `folder`.
inline void write_tiny_checkpoint(const std::filesystem::path& folder, const TinyOptions& options) {
  write_file(folder / "rl_agent_config.json", tiny_agent_config(options));
  write_file(folder / "encoder" / "config.json", tiny_encoder_config(options));
  write_file(folder / "tokenizer" / "tokenizer.json", tiny_tokenizer_json(options.bert));
  write_file(folder / "tokenizer" / "tokenizer_config.json", tiny_tokenizer_config());
  write_file(folder / "model.safetensors", safetensors_bytes(tiny_weights(options), options.dtype));
}

}  // namespace layard::testing
