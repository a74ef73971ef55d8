/// A matrix product shared out among threads.
#pragma once

#include <cstddef>

#include "backends/cpu/thread_pool.h"
#include "kernels/kernels.h"

namespace layard::backends::cpu {

/// Working memory of the pool's threads: `stride` bytes each, at least
/// LinearKernels::scratch_bytes, 64-byte aligned.
struct ThreadScratch {
  std::byte* data = nullptr;
  std::size_t stride = 0;
};

/// Computes rows [0, rows) of args.c. Work is cut by rows and panels, never by k, so the result is
/// the same bit for bit for any number of threads.
void matmul(ThreadPool& pool, const kernels::GemmArgs& args, std::size_t rows,
            const ThreadScratch& scratch);

/// How a product is cut: `row_parts` x (`large` runs of `panels_per_run` panels, then single ones),
/// large parts first so that threads finish close together.
struct MatmulCut {
  std::size_t row_parts = 1;
  std::size_t row_step = 1;
  std::size_t large = 0;
  std::size_t panels_per_run = 1;
  std::size_t panels = 0;

  /// Rows are cut at multiples of `row_step` only.
  static MatmulCut of(std::size_t rows, std::size_t panels, std::size_t panels_per_run,
                      std::size_t threads, std::size_t row_step = 1);
  std::size_t runs() const { return large + (panels - large * panels_per_run); }
  std::size_t parts() const { return row_parts * runs(); }
  kernels::IndexRange panel_range(std::size_t run) const;
  kernels::IndexRange row_range(std::size_t part, std::size_t rows) const;
};

}  // namespace layard::backends::cpu
