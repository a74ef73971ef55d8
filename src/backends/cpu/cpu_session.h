/// The device that is always there: the whole forward pass on this machine's processors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backends/cpu/cpu_model.h"
#include "backends/cpu/forward.h"
#include "backends/cpu/pass_plan.h"
#include "backends/cpu/rope_table.h"
#include "backends/cpu/thread_pool.h"
#include "backends/session.h"
#include "tensor/arena.h"

namespace layard::backends::cpu {

struct CpuOptions {
  /// Threads that compute, the caller's included; 0: cpu_count().
  int threads = 0;
  /// Rows of one run() are cut into passes of at most this many tokens (always at least one row):
  /// bounds the working memory, about 15 * hidden_size * 4 bytes a token.
  std::size_t tokens_per_pass_max = 2048;
};

/// Invariants: a row's output is bit-equal alone and in any company, for any thread count and pass
/// size, per kernel table; after the largest rows have been seen once, run() allocates nothing.
class CpuSession final : public Session {
 public:
  /// Errors: kInternal when the system gives no more threads.
  static Result<std::unique_ptr<CpuSession>> open(std::shared_ptr<const CpuModel> model,
                                                  const CpuOptions& options);

  /// Errors: those of encoder::check_rows; kInternal when there is no memory.
  Status run(std::span<const encoder::ModelRow> rows,
             std::span<encoder::RowOutput> outputs) override;

  int threads() const { return pool_.threads(); }
  /// Working memory held, besides the model.
  std::size_t working_bytes() const { return arena_.capacity() * sizeof(float); }
  const CpuModel& model() const { return *model_; }

 private:
  CpuSession(std::shared_ptr<const CpuModel> model, const CpuOptions& options);

  /// Rows at the front of `rows` that make up the next pass.
  std::size_t rows_of_pass(std::span<const encoder::ModelRow> rows) const;

  std::shared_ptr<const CpuModel> model_;
  CpuOptions options_;
  tensor::Arena arena_;
  PassPlan plan_;
  RopeTable rope_full_;
  RopeTable rope_sliding_;
  ThreadPool pool_;
};

}  // namespace layard::backends::cpu
