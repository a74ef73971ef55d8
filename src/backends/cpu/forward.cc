#include "backends/cpu/forward.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/matmul.h"

namespace layard::backends::cpu {
namespace {

using encoder::EncoderFamily;
using encoder::LayerAttention;
using kernels::Activation;
using tensor::Arena;
using tensor::padded_stride;

constexpr float kHeadEps = 1e-5F;
// Rows that one task of a row-wise step takes.
constexpr std::size_t kRowsPerTask = 16;

std::size_t tasks_for(std::size_t rows) { return (rows + kRowsPerTask - 1) / kRowsPerTask; }

}  // namespace

Forward::Forward(const PassContext& context, const PassPlan& plan)
    : model_(context.model),
      kernels_(context.model.kernels()),
      w_(context.model.weights()),
      pool_(context.pool),
      arena_(context.arena),
      rope_full_(context.rope_full),
      rope_sliding_(context.rope_sliding),
      plan_(plan),
      d_(static_cast<std::size_t>(context.model.config().hidden_size)),
      tokens_(plan.tokens()),
      selected_(plan.selected().size()) {
  lay_out();
  if (model_.config().family == EncoderFamily::kModernBert) {
    rope_full_.ensure(plan.longest());
    rope_sliding_.ensure(plan.longest());
  }
}

std::size_t Forward::scratch_floats() const {
  const std::size_t head_dim = static_cast<std::size_t>(
      std::max(model_.config().head_dim(),
               model_.config().hidden_size / model_.source().head_attention_heads()));
  return std::max({model_.scratch_bytes_max() / sizeof(float),
                   kernels_.attention_scratch_floats(plan_.longest(), head_dim), d_});
}

void Forward::lay_out() {
  const auto f = static_cast<std::size_t>(model_.config().intermediate_size);
  const std::size_t wide = std::max(f, 4 * d_);
  const std::size_t rows = plan_.rows().size();
  const std::size_t act_outputs = w_.act_out.n;
  struct Wish {
    Matrix* matrix;
    std::size_t rows;
    std::size_t columns;
  };
  const Wish wishes[] = {{&x_, tokens_, d_},
                         {&a_, tokens_, d_},
                         {&wide_, tokens_, wide},
                         {&sx_, selected_, d_},
                         {&sa_, selected_, d_},
                         {&sq_, selected_, d_},
                         {&swide_, selected_, wide},
                         {&features_, rows, w_.act_hidden.k},
                         {&act_hidden_, rows, w_.act_hidden.n},
                         {&act_out_, rows, act_outputs}};
  scratch_stride_ = Arena::footprint(scratch_floats());
  const auto threads = static_cast<std::size_t>(pool_.threads());
  const std::size_t operand_floats =
      model_.operand_bytes(std::max({tokens_, selected_, rows})) / sizeof(float);
  std::size_t total =
      scratch_stride_ * threads + Arena::footprint(selected_) + Arena::footprint(operand_floats);
  for (const Wish& wish : wishes) {
    total += Arena::footprint(wish.rows * padded_stride(wish.columns));
  }
  arena_.begin(total);
  for (const Wish& wish : wishes) {
    wish.matrix->stride = padded_stride(wish.columns);
    wish.matrix->data = arena_.take(wish.rows * wish.matrix->stride);
  }
  logits_ = arena_.take(selected_);
  operands_ = arena_.take(operand_floats);
  scratch_ = arena_.take(scratch_stride_ * threads);
}

void Forward::run(std::span<encoder::RowOutput> outputs) {
  embed();
  for (std::size_t i = 0; i < w_.layers.size(); ++i) {
    model_.config().family == EncoderFamily::kBert ? bert_layer(i) : modernbert_layer(i);
  }
  finish_encoder();
  for (std::size_t j = 0; j + 1 < w_.head.size(); ++j) head_layer(w_.head[j]);
  if (w_.head.empty()) {
    select(x_, sx_);
  } else {
    last_head_layer(w_.head.back());
  }
  score(outputs);
  act(outputs);
}

void Forward::embed_token(std::size_t token, float* place_scratch) {
  const encoder::ModelWeights& source = model_.source();
  const PlannedRow& planned = plan_.row_of(token);
  const std::size_t at = token - planned.first_token;
  const auto widen_row = [&](const tensor::TensorView& table, std::int32_t index, float* to) {
    const std::size_t bytes = d_ * tensor::dtype_bytes(table.dtype);
    kernels_.widen(table.data + static_cast<std::size_t>(index) * bytes, element_type(table.dtype),
                   d_, to);
  };
  float* x = x_.row(token);
  widen_row(source.token_embedding, planned.row->ids[at], x);
  if (model_.config().family != EncoderFamily::kBert) return;
  kernels_.add(w_.bert_type_row, d_, x);
  const auto position =
      planned.row->positions.empty() ? static_cast<std::int32_t>(at) : planned.row->positions[at];
  widen_row(source.position_embedding, position, place_scratch);
  kernels_.add(place_scratch, d_, x);
}

void Forward::embed() {
  const kernels::NormArgs args{w_.embedding_norm.weight, w_.embedding_norm.bias,
                               model_.config().norm_eps, d_};
  pool_.run(tasks_for(tokens_), [&](std::size_t task, std::size_t thread) {
    const std::size_t end = std::min(tokens_, (task + 1) * kRowsPerTask);
    for (std::size_t t = task * kRowsPerTask; t < end; ++t) {
      embed_token(t, scratch(thread));
      if (w_.embedding_norm.present()) kernels_.layer_norm(args, x_.row(t), x_.row(t));
    }
  });
}

void Forward::norm(const NormWeights& weights, float eps, std::size_t rows, const Matrix& from,
                   const Matrix& to) {
  const kernels::NormArgs args{weights.weight, weights.bias, eps, d_};
  pool_.run(tasks_for(rows), [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
      kernels_.layer_norm(args, from.row(r), to.row(r));
    }
  });
}

void Forward::multiply(const kernels::PackedMatrix& weights, std::size_t rows, const Matrix& from,
                       const Matrix& to, const Extras& extras) {
  kernels::GemmArgs args;
  if (weights.kernels->prepare == nullptr) {
    args.a = reinterpret_cast<const std::byte*>(from.data);
    args.a_stride = from.stride * sizeof(float);
  } else {
    prepare(weights, rows, from);
    args.a = reinterpret_cast<const std::byte*>(operands_);
  }
  args.w = weights;
  args.activation = extras.activation;
  if (extras.residual != nullptr) {
    args.residual = extras.residual->data;
    args.ld_residual = extras.residual->stride;
  }
  args.c = to.data;
  args.ldc = to.stride;
  matmul(pool_, args, rows,
         {reinterpret_cast<std::byte*>(scratch_), scratch_stride_ * sizeof(float)});
}

// Rows of `from` in the form that the weights' kernels read.
void Forward::prepare(const kernels::PackedMatrix& weights, std::size_t rows, const Matrix& from) {
  auto* operands = reinterpret_cast<std::byte*>(operands_);
  pool_.run(tasks_for(rows), [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
      weights.kernels->prepare(from.row(r), weights.k, r, operands);
    }
  });
}

void Forward::rotate(const Matrix& qkv, const RopeTable& table) {
  const auto heads = static_cast<std::size_t>(model_.config().heads);
  pool_.run(tasks_for(tokens_), [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(tokens_, (task + 1) * kRowsPerTask);
    for (std::size_t t = task * kRowsPerTask; t < end; ++t) {
      const PlannedRow& planned = plan_.row_of(t);
      const std::size_t at = t - planned.first_token;
      const std::size_t position = planned.row->positions.empty()
                                       ? at
                                       : static_cast<std::size_t>(planned.row->positions[at]);
      // q and k lie side by side: twice the heads.
      kernels_.rope(table.cosine(position), table.sine(position), table.half(), 2 * heads,
                    qkv.row(t));
    }
  });
}

void Forward::attend(const AttentionPart& part) {
  const std::span<const QueryChunk> chunks = part.selected  ? plan_.selected_chunks()
                                             : part.sliding ? plan_.sliding_chunks()
                                                            : plan_.full_chunks();
  pool_.run(chunks.size() * part.heads, [&](std::size_t task, std::size_t thread) {
    attend_chunk(part, chunks[task / part.heads], task % part.heads, scratch(thread));
  });
}

void Forward::attend_chunk(const AttentionPart& part, const QueryChunk& chunk, std::size_t head,
                           float* scratch) {
  const PlannedRow& planned = plan_.rows()[chunk.row];
  const encoder::ModelRow& row = *planned.row;
  const std::size_t query_row = part.selected ? planned.first_selected : planned.first_token;
  kernels::AttentionArgs args;
  args.head_dim = d_ / part.heads;
  const std::size_t column = head * args.head_dim;
  args.q = part.q.row(query_row) + column;
  args.ld_q = part.q.stride;
  args.k = part.kv.row(planned.first_token) + part.key_column + column;
  args.v = args.k + d_;
  args.ld_kv = part.kv.stride;
  args.tokens = planned.tokens;
  args.scale = 1.0F / std::sqrt(static_cast<float>(args.head_dim));
  if (part.sliding) args.half_window = static_cast<std::size_t>(model_.config().half_window);
  if (part.selected) args.query_tokens = plan_.selected().data() + planned.first_selected;
  if (part.masked && !row.options.empty()) {
    args.positions = row.positions.data();
    args.options = row.options.data();
  }
  args.out = part.out.row(query_row) + column;
  args.ld_out = part.out.stride;
  kernels_.attention(args, {chunk.begin, chunk.end}, scratch);
}

void Forward::modernbert_layer(std::size_t index) {
  const PackedLayer& layer = w_.layers[index];
  const float eps = model_.config().norm_eps;
  const bool sliding = model_.config().layer_attention[index] == LayerAttention::kSliding;
  const bool normed = layer.attention_norm.present();
  if (normed) norm(layer.attention_norm, eps, tokens_, x_, a_);
  multiply(layer.qkv, tokens_, normed ? a_ : x_, wide_, {});
  rotate(wide_, sliding ? rope_sliding_ : rope_full_);
  attend({wide_, wide_, d_, a_, static_cast<std::size_t>(model_.config().heads), sliding, false,
          true});
  multiply(layer.attention_out, tokens_, a_, x_, {Activation::kNone, &x_});
  norm(layer.mlp_norm, eps, tokens_, x_, a_);
  multiply(layer.mlp_in, tokens_, a_, wide_, {Activation::kGeluGate, nullptr});
  multiply(layer.mlp_out, tokens_, wide_, x_, {Activation::kNone, &x_});
}

void Forward::bert_layer(std::size_t index) {
  const PackedLayer& layer = w_.layers[index];
  const float eps = model_.config().norm_eps;
  multiply(layer.qkv, tokens_, x_, wide_, {});
  attend(
      {wide_, wide_, d_, a_, static_cast<std::size_t>(model_.config().heads), false, false, true});
  multiply(layer.attention_out, tokens_, a_, x_, {Activation::kNone, &x_});
  norm(layer.attention_norm, eps, tokens_, x_, x_);
  multiply(layer.mlp_in, tokens_, x_, wide_, {Activation::kGelu, nullptr});
  multiply(layer.mlp_out, tokens_, wide_, x_, {Activation::kNone, &x_});
  norm(layer.mlp_norm, eps, tokens_, x_, x_);
}

// The encoder's last norm and the question type's embedding on every token.
void Forward::finish_encoder() {
  const kernels::NormArgs args{w_.final_norm.weight, w_.final_norm.bias, model_.config().norm_eps,
                               d_};
  pool_.run(tasks_for(tokens_), [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(tokens_, (task + 1) * kRowsPerTask);
    for (std::size_t t = task * kRowsPerTask; t < end; ++t) {
      if (w_.final_norm.present()) kernels_.layer_norm(args, x_.row(t), x_.row(t));
      const auto type = static_cast<std::size_t>(plan_.row_of(t).row->type);
      kernels_.add(w_.question_types + type * d_, d_, x_.row(t));
    }
  });
}

void Forward::head_layer(const PackedHeadLayer& layer) {
  const auto heads = static_cast<std::size_t>(model_.source().head_attention_heads());
  norm(layer.norm1, kHeadEps, tokens_, x_, a_);
  multiply(layer.qkv, tokens_, a_, wide_, {});
  attend({wide_, wide_, d_, a_, heads, false, false, false});
  multiply(layer.out, tokens_, a_, x_, {Activation::kNone, &x_});
  norm(layer.norm2, kHeadEps, tokens_, x_, a_);
  multiply(layer.linear1, tokens_, a_, wide_, {Activation::kRelu, nullptr});
  multiply(layer.linear2, tokens_, wide_, x_, {Activation::kNone, &x_});
}

// Keys and values come from every token; the rest only where an answer is read.
void Forward::last_head_layer(const PackedHeadLayer& layer) {
  const auto heads = static_cast<std::size_t>(model_.source().head_attention_heads());
  norm(layer.norm1, kHeadEps, tokens_, x_, a_);
  multiply(layer.kv, tokens_, a_, wide_, {});
  select(a_, sa_);
  select(x_, sx_);
  multiply(layer.q, selected_, sa_, sq_, {});
  attend({sq_, wide_, 0, sa_, heads, false, true, false});
  multiply(layer.out, selected_, sa_, sx_, {Activation::kNone, &sx_});
  norm(layer.norm2, kHeadEps, selected_, sx_, sa_);
  multiply(layer.linear1, selected_, sa_, swide_, {Activation::kRelu, nullptr});
  multiply(layer.linear2, selected_, swide_, sx_, {Activation::kNone, &sx_});
}

void Forward::select(const Matrix& from, const Matrix& to) {
  for (const PlannedRow& planned : plan_.rows()) {
    for (std::size_t s = 0; s < planned.selected; ++s) {
      const auto token = static_cast<std::size_t>(plan_.selected()[planned.first_selected + s]);
      std::copy_n(from.row(planned.first_token + token), d_, to.row(planned.first_selected + s));
    }
  }
}

// The scorer runs on the first tokens too: they are few, and one matrix is simpler.
void Forward::score(std::span<encoder::RowOutput> outputs) {
  norm(w_.scorer_norm, kHeadEps, selected_, sx_, sa_);
  multiply(w_.scorer_hidden, selected_, sa_, sq_, {Activation::kGelu, nullptr});
  multiply(w_.scorer_out, selected_, sq_, {logits_, 1}, {});
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const PlannedRow& planned = plan_.rows()[r];
    const float* first = logits_ + planned.first_selected + 1;
    outputs[r].logits.assign(first, first + planned.selected - 1);
  }
}

// Features of the act head: h[CLS], top probability, its lead, normalised entropy, k / 255.
void Forward::act(std::span<encoder::RowOutput> outputs) {
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const std::vector<float>& z = outputs[r].logits;
    const float peak = *std::max_element(z.begin(), z.end());
    double total = 0;
    for (const float value : z) total += std::exp(static_cast<double>(value) - peak);
    double entropy = 0;
    double top = 0;
    double second = 0;
    for (const float value : z) {
      const double p = std::exp(static_cast<double>(value) - peak) / total;
      entropy -= p * std::log(std::max(p, 1e-9));
      second = std::max(second, std::min(top, p));
      top = std::max(top, p);
    }
    const auto k = static_cast<double>(std::max<std::size_t>(2, z.size()));
    float* features = features_.row(r);
    std::copy_n(sx_.row(plan_.rows()[r].first_selected), d_, features);
    features[d_] = static_cast<float>(top);
    features[d_ + 1] = static_cast<float>(top - second);
    features[d_ + 2] = static_cast<float>(entropy / std::log(k));
    features[d_ + 3] = static_cast<float>(k / 255.0);
  }
  multiply(w_.act_hidden, outputs.size(), features_, act_hidden_, {Activation::kGelu, nullptr});
  multiply(w_.act_out, outputs.size(), act_hidden_, act_out_, {});
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    outputs[r].act.assign(act_out_.row(r), act_out_.row(r) + w_.act_out.n);
  }
}

}  // namespace layard::backends::cpu
