#include "encoder/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/checks.h"

namespace layard::encoder {
namespace {

using Matrix = std::vector<float>;  // row-major [rows, columns]

float gelu(float x) {
  return static_cast<float>(0.5 * x *
                            (1.0 + std::erf(static_cast<double>(x) / std::numbers::sqrt2)));
}

// One row's forward. Everything is recomputed per row: slow and simple on purpose.
class RowForward {
 public:
  RowForward(const ModelWeights& weights, const ModelRow& row)
      : w_(weights),
        row_(row),
        tokens_(row.ids.size()),
        d_(static_cast<std::size_t>(weights.config.hidden_size)) {}

  void run(RowOutput& output) {
    embed();
    for (std::size_t i = 0; i < w_.layers.size(); ++i) {
      w_.config.family == EncoderFamily::kBert ? bert_layer(i) : modernbert_layer(i);
    }
    if (w_.config.family == EncoderFamily::kModernBert)
      x_ = normed(x_, w_.final_norm, w_.config.norm_eps);
    const std::vector<float> type = table_row(w_.question_type_embedding, row_.type);
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += type[i % d_];
    for (const HeadLayer& layer : w_.head_layers) head_layer(layer);
    score(output);
    act(output);
  }

 private:
  std::vector<float> table_row(const tensor::TensorView& table, std::int64_t index) const {
    std::vector<float> out(static_cast<std::size_t>(table.shape.back()));
    tensor::to_float(table, static_cast<std::size_t>(index) * out.size(), out);
    return out;
  }

  std::int32_t position(std::size_t token) const {
    return row_.positions.empty() ? static_cast<std::int32_t>(token) : row_.positions[token];
  }

  void embed() {
    x_.resize(tokens_ * d_);
    const bool bert = w_.config.family == EncoderFamily::kBert;
    const std::vector<float> type =
        bert ? table_row(w_.type_embedding_row, 0) : std::vector<float>(d_);
    for (std::size_t t = 0; t < tokens_; ++t) {
      const std::vector<float> word = table_row(w_.token_embedding, row_.ids[t]);
      const std::vector<float> place =
          bert ? table_row(w_.position_embedding, position(t)) : std::vector<float>(d_);
      for (std::size_t i = 0; i < d_; ++i) x_[t * d_ + i] = word[i] + type[i] + place[i];
    }
    x_ = normed(x_, w_.embedding_norm, w_.config.norm_eps);
  }

  Matrix normed(const Matrix& x, const Norm& norm, float eps) const {
    if (!norm.present()) return x;
    const std::vector<float> weight = table_row(norm.weight, 0);
    const std::vector<float> bias =
        norm.has_bias() ? table_row(norm.bias, 0) : std::vector<float>(d_);
    Matrix out(x.size());
    for (std::size_t row = 0; row < x.size(); row += d_) {
      double mean = 0;
      for (std::size_t i = 0; i < d_; ++i) mean += x[row + i];
      mean /= static_cast<double>(d_);
      double variance = 0;
      for (std::size_t i = 0; i < d_; ++i) variance += (x[row + i] - mean) * (x[row + i] - mean);
      const double scale = 1.0 / std::sqrt(variance / static_cast<double>(d_) + eps);
      for (std::size_t i = 0; i < d_; ++i) {
        out[row + i] = static_cast<float>((x[row + i] - mean) * scale * weight[i] + bias[i]);
      }
    }
    return out;
  }

  // x [rows, in] -> [rows, out]
  static Matrix project(const Matrix& x, const Linear& linear) {
    const auto out_size = static_cast<std::size_t>(linear.weight.shape[0]);
    const auto in_size = static_cast<std::size_t>(linear.weight.shape[1]);
    const std::size_t rows = x.size() / in_size;
    Matrix columns(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) columns[i % in_size * rows + i / in_size] = x[i];
    Matrix out(rows * out_size);
    std::vector<float> weight(in_size);
    std::vector<double> sums(rows);
    for (std::size_t o = 0; o < out_size; ++o) {
      tensor::to_float(linear.weight, o * in_size, weight);
      std::ranges::fill(sums, linear.has_bias() ? tensor::element(linear.bias, o) : 0.0);
      // Each row's sum runs over i in order; side by side they do not wait for one another.
      for (std::size_t i = 0; i < in_size; ++i) {
        const double factor = weight[i];
        const float* column = &columns[i * rows];
        for (std::size_t r = 0; r < rows; ++r) sums[r] += column[r] * factor;
      }
      for (std::size_t r = 0; r < rows; ++r) out[r * out_size + o] = static_cast<float>(sums[r]);
    }
    return out;
  }

  // Rotates q or k (one [tokens, d] part of `qkv` with row stride 3d) by HF's rotate-half rule.
  void rotate(Matrix& qkv, std::size_t part, std::size_t heads, double theta) const {
    const std::size_t head_dim = d_ / heads;
    const std::size_t half = head_dim / 2;
    for (std::size_t t = 0; t < tokens_; ++t) {
      for (std::size_t j = 0; j < half; ++j) {
        const auto exponent = static_cast<float>(2 * j) / static_cast<float>(head_dim);
        const auto inverse =
            static_cast<float>(1.0 / std::pow(theta, static_cast<double>(exponent)));
        const float angle = static_cast<float>(position(t)) * inverse;
        const float cosine = std::cos(angle);
        const float sine = std::sin(angle);
        for (std::size_t h = 0; h < heads; ++h) {
          float* v = &qkv[t * 3 * d_ + part * d_ + h * head_dim];
          const float low = v[j];
          const float high = v[j + half];
          v[j] = low * cosine - high * sine;
          v[j + half] = high * cosine + low * sine;
        }
      }
    }
  }

  enum class Sees : unsigned char { kAll, kOwnOption, kOwnOptionNear };

  bool visible(std::size_t i, std::size_t j, Sees sees) const {
    if (sees == Sees::kAll) return true;
    if (!row_.options.empty() && row_.options[i] != 0 && row_.options[j] != 0 &&
        row_.options[i] != row_.options[j]) {
      return false;
    }
    return sees == Sees::kOwnOption || std::abs(position(i) - position(j)) <= w_.config.half_window;
  }

  // qkv [tokens, 3d] -> context [tokens, d]
  Matrix attend(const Matrix& qkv, std::size_t heads, Sees sees) const {
    const std::size_t head_dim = d_ / heads;
    const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
    Matrix context(tokens_ * d_);
    std::vector<double> p(tokens_);
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < tokens_; ++i) {
        const float* q = &qkv[i * 3 * d_ + h * head_dim];
        double peak = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < tokens_; ++j) {
          p[j] = -std::numeric_limits<double>::infinity();
          if (!visible(i, j, sees)) continue;
          const float* k = &qkv[j * 3 * d_ + d_ + h * head_dim];
          double dot = 0;
          for (std::size_t c = 0; c < head_dim; ++c) dot += static_cast<double>(q[c]) * k[c];
          p[j] = dot * scale;
          peak = std::max(peak, p[j]);
        }
        double total = 0;
        for (double& value : p) total += value = std::exp(value - peak);
        for (std::size_t c = 0; c < head_dim; ++c) {
          double sum = 0;
          for (std::size_t j = 0; j < tokens_; ++j) {
            sum += p[j] * qkv[j * 3 * d_ + 2 * d_ + h * head_dim + c];
          }
          context[i * d_ + h * head_dim + c] = static_cast<float>(sum / total);
        }
      }
    }
    return context;
  }

  void add(const Matrix& delta) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += delta[i];
  }

  void modernbert_layer(std::size_t index) {
    const EncoderLayer& layer = w_.layers[index];
    const bool sliding = w_.config.layer_attention[index] == LayerAttention::kSliding;
    const auto heads = static_cast<std::size_t>(w_.config.heads);
    const double theta = sliding ? w_.config.rope_theta_sliding : w_.config.rope_theta_full;
    Matrix qkv = project(normed(x_, layer.attention_norm, w_.config.norm_eps), layer.qkv[0]);
    rotate(qkv, 0, heads, theta);
    rotate(qkv, 1, heads, theta);
    add(project(attend(qkv, heads, sliding ? Sees::kOwnOptionNear : Sees::kOwnOption),
                layer.attention_out));
    const Matrix wide = project(normed(x_, layer.mlp_norm, w_.config.norm_eps), layer.mlp_in);
    const auto f = static_cast<std::size_t>(w_.config.intermediate_size);
    Matrix gated(tokens_ * f);
    for (std::size_t t = 0; t < tokens_; ++t) {
      for (std::size_t i = 0; i < f; ++i) {
        gated[t * f + i] = gelu(wide[t * 2 * f + i]) * wide[t * 2 * f + f + i];
      }
    }
    add(project(gated, layer.mlp_out));
  }

  void bert_layer(std::size_t index) {
    const EncoderLayer& layer = w_.layers[index];
    Matrix qkv(tokens_ * 3 * d_);
    for (std::size_t part = 0; part < 3; ++part) {
      const Matrix one = project(x_, layer.qkv[part]);
      for (std::size_t t = 0; t < tokens_; ++t) {
        std::copy_n(&one[t * d_], d_, &qkv[t * 3 * d_ + part * d_]);
      }
    }
    add(project(attend(qkv, static_cast<std::size_t>(w_.config.heads), Sees::kOwnOption),
                layer.attention_out));
    x_ = normed(x_, layer.attention_norm, w_.config.norm_eps);
    Matrix wide = project(x_, layer.mlp_in);
    for (float& value : wide) value = gelu(value);
    add(project(wide, layer.mlp_out));
    x_ = normed(x_, layer.mlp_norm, w_.config.norm_eps);
  }

  void head_layer(const HeadLayer& layer) {
    constexpr float kEps = 1e-5F;
    const auto heads = static_cast<std::size_t>(w_.head_attention_heads());
    const Matrix qkv = project(normed(x_, layer.norm1, kEps), layer.in_proj);
    // The head has no positions and no option mask: every token sees every token.
    add(project(attend(qkv, heads, Sees::kAll), layer.out_proj));
    Matrix wide = project(normed(x_, layer.norm2, kEps), layer.linear1);
    for (float& value : wide) value = std::max(value, 0.0F);
    add(project(wide, layer.linear2));
  }

  void score(RowOutput& output) const {
    Matrix markers(row_.markers.size() * d_);
    for (std::size_t s = 0; s < row_.markers.size(); ++s) {
      std::copy_n(&x_[static_cast<std::size_t>(row_.markers[s]) * d_], d_, &markers[s * d_]);
    }
    Matrix hidden = project(normed(markers, w_.scorer_norm, 1e-5F), w_.scorer_hidden);
    for (float& value : hidden) value = gelu(value);
    output.logits = project(hidden, w_.scorer_out);
  }

  // Features of the act head: top probability, its lead, normalised entropy, option count.
  void act(RowOutput& output) const {
    const std::vector<float>& z = output.logits;
    const float peak = *std::max_element(z.begin(), z.end());
    std::vector<double> p;
    double total = 0;
    for (const float value : z) p.push_back(std::exp(static_cast<double>(value) - peak));
    for (const double value : p) total += value;
    double entropy = 0;
    for (double& value : p) {
      value /= total;
      entropy -= value * std::log(std::max(value, 1e-9));
    }
    std::sort(p.begin(), p.end(), std::greater<>());
    const double k = static_cast<double>(std::max<std::size_t>(2, z.size()));
    Matrix features(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(d_));
    features.push_back(static_cast<float>(p[0]));
    features.push_back(static_cast<float>(p[0] - (p.size() > 1 ? p[1] : 0.0)));
    features.push_back(static_cast<float>(entropy / std::log(k)));
    features.push_back(static_cast<float>(k / 255.0));
    Matrix hidden = project(features, w_.act_hidden);
    for (float& value : hidden) value = gelu(value);
    output.act = project(hidden, w_.act_out);
  }

  const ModelWeights& w_;
  const ModelRow& row_;
  std::size_t tokens_;
  std::size_t d_;
  Matrix x_;
};

Error broken(const std::string& what) { return {ErrorCode::kInternal, "forward pass: " + what}; }

Status check_row(const EncoderConfig& config, const ModelRow& row) {
  if (row.ids.empty() || row.markers.empty()) return broken("a row without tokens or markers");
  if (row.type < 0 || row.type > 2) return broken("question type out of range");
  for (const std::int32_t id : row.ids) {
    if (id < 0 || id >= config.vocab_size) {
      return broken("token id " + std::to_string(id) + " is outside the vocabulary of " +
                    std::to_string(config.vocab_size));
    }
  }
  const auto tokens = static_cast<std::int32_t>(row.ids.size());
  for (std::size_t s = 0; s < row.markers.size(); ++s) {
    if (row.markers[s] < 0 || row.markers[s] >= tokens ||
        (s > 0 && row.markers[s] <= row.markers[s - 1])) {
      return broken("markers must ascend inside the row");
    }
  }
  if (row.positions.size() != row.options.size() ||
      (!row.positions.empty() && row.positions.size() != row.ids.size())) {
    return broken("positions and options must cover the row");
  }
  std::int32_t last = tokens - 1;
  for (const std::int32_t position : row.positions) {
    if (position < 0 || position >= tokens) return broken("a position outside the row");
  }
  if (!row.positions.empty()) last = *std::max_element(row.positions.begin(), row.positions.end());
  if (config.family == EncoderFamily::kBert && last >= config.positions_max) {
    return Error{ErrorCode::kUnsupportedShape, "a prompt row of " + std::to_string(tokens) +
                                                   " tokens is longer than the encoder's " +
                                                   std::to_string(config.positions_max) +
                                                   " positions; lower max_len or shorten the text"};
  }
  return {};
}

}  // namespace

Status check_rows(const EncoderConfig& config, std::span<const ModelRow> rows) {
  for (const ModelRow& row : rows) LAYARD_TRY(check_row(config, row));
  return {};
}

Status reference_forward(const ModelWeights& weights, std::span<const ModelRow> rows,
                         std::span<RowOutput> outputs) {
  LAYARD_CHECK(rows.size() == outputs.size());
  LAYARD_TRY(check_rows(weights.config, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) RowForward(weights, rows[i]).run(outputs[i]);
  return {};
}

}  // namespace layard::encoder
