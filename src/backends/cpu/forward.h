/// One forward pass over rows laid out side by side.
#pragma once

#include <cstddef>
#include <span>

#include "backends/cpu/cpu_model.h"
#include "backends/cpu/pass_plan.h"
#include "backends/cpu/rope_table.h"
#include "backends/cpu/thread_pool.h"
#include "encoder/rows.h"
#include "tensor/arena.h"

namespace layard::backends::cpu {

/// What a session lends to a pass.
struct PassContext {
  const CpuModel& model;
  ThreadPool& pool;
  tensor::Arena& arena;
  RopeTable& rope_full;
  RopeTable& rope_sliding;
};

/// Invariants: every value of a row is computed by the same operations in the same order whatever
/// the other rows, the thread count and the way work is split; nothing is allocated except by the
/// arena, the RoPE tables and the outputs when they grow beyond what they held before.
class Forward {
 public:
  Forward(const PassContext& context, const PassPlan& plan);

  /// Fills one output per row of the plan.
  /// Source: laya 0.4.15 common.DecisionModel; transformers 5.x modeling_modernbert, modeling_bert.
  void run(std::span<encoder::RowOutput> outputs);

 private:
  /// Rows of floats in the arena.
  struct Matrix {
    float* data = nullptr;
    std::size_t stride = 0;
    float* row(std::size_t index) const { return data + index * stride; }
  };
  /// What attention reads and writes: queries may stand apart from keys and values.
  struct AttentionPart {
    Matrix q;
    Matrix kv;  ///< keys start at its column key_column, values d columns further
    std::size_t key_column = 0;
    Matrix out;
    std::size_t heads = 1;
    bool sliding = false;
    bool selected = false;
    /// Whether the parallel layout's options hide each other: in the encoder, not in the head.
    bool masked = false;
  };
  struct Extras {
    kernels::Activation activation = kernels::Activation::kNone;
    const Matrix* residual = nullptr;
  };

  std::size_t scratch_floats() const;
  void lay_out();

  void embed();
  void embed_token(std::size_t token, float* place_scratch);
  void modernbert_layer(std::size_t index);
  void bert_layer(std::size_t index);
  void finish_encoder();
  void head_layer(const PackedHeadLayer& layer);
  void last_head_layer(const PackedHeadLayer& layer);
  void select(const Matrix& from, const Matrix& to);
  void score(std::span<encoder::RowOutput> outputs);
  void act(std::span<encoder::RowOutput> outputs);

  void norm(const NormWeights& weights, float eps, std::size_t rows, const Matrix& from,
            const Matrix& to);
  void multiply(const kernels::PackedMatrix& weights, std::size_t rows, const Matrix& from,
                const Matrix& to, const Extras& extras);
  void prepare(const kernels::PackedMatrix& weights, std::size_t rows, const Matrix& from);
  void rotate(const Matrix& qkv, const RopeTable& table);
  void attend(const AttentionPart& part);
  void attend_chunk(const AttentionPart& part, const QueryChunk& chunk, std::size_t head,
                    float* scratch);
  float* scratch(std::size_t thread) const { return scratch_ + thread * scratch_stride_; }

  const CpuModel& model_;
  const kernels::KernelTable& kernels_;
  const PackedWeights& w_;
  ThreadPool& pool_;
  tensor::Arena& arena_;
  RopeTable& rope_full_;
  RopeTable& rope_sliding_;
  const PassPlan& plan_;
  std::size_t d_;
  std::size_t tokens_;
  std::size_t selected_;

  Matrix x_;                     // [tokens, d] the residual stream
  Matrix a_;                     // [tokens, d] normed input, then attention's context
  Matrix wide_;                  // [tokens, max(3d, F, 4d)] qkv, then the hidden layer of the MLP
  Matrix sx_, sa_, sq_, swide_;  // the same for selected tokens
  Matrix features_, act_hidden_, act_out_;  // one row per row
  float* logits_ = nullptr;                 // [selected]
  float* operands_ = nullptr;               // rows as the weights' kernels read them
  float* scratch_ = nullptr;
  std::size_t scratch_stride_ = 0;
};

}  // namespace layard::backends::cpu
