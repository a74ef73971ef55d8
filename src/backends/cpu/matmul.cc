#include "backends/cpu/matmul.h"

#include <algorithm>

namespace layard::backends::cpu {
namespace {

// Rows below which cutting rows costs more (each part streams the whole panel) than it shares out.
constexpr std::size_t kRowsPerPartMin = 56;

}  // namespace

MatmulCut MatmulCut::of(std::size_t rows, std::size_t panels, std::size_t panels_per_run,
                        std::size_t threads, std::size_t row_step) {
  MatmulCut cut;
  cut.row_step = row_step;
  cut.panels = panels;
  cut.panels_per_run = panels_per_run;
  if (threads <= 1) {
    cut.panels_per_run = std::max<std::size_t>(1, panels);
    cut.large = panels > 0 ? 1 : 0;
    return cut;
  }
  // The last two panels per thread are single parts: the wait at the end is at most one panel.
  const std::size_t singles = std::min(panels, 2 * threads);
  cut.large = (panels - singles) / panels_per_run;
  if (cut.runs() < 2 * threads) {
    const std::size_t wanted = (2 * threads + cut.runs() - 1) / cut.runs();
    cut.row_parts = std::clamp<std::size_t>(rows / kRowsPerPartMin, 1, wanted);
  }
  return cut;
}

kernels::IndexRange MatmulCut::panel_range(std::size_t run) const {
  if (run < large) return {run * panels_per_run, (run + 1) * panels_per_run};
  const std::size_t single = large * panels_per_run + (run - large);
  return {single, single + 1};
}

kernels::IndexRange MatmulCut::row_range(std::size_t part, std::size_t rows) const {
  const std::size_t steps = (rows + row_step - 1) / row_step;
  return {std::min(rows, steps * part / row_parts * row_step),
          std::min(rows, steps * (part + 1) / row_parts * row_step)};
}

void matmul(ThreadPool& pool, const kernels::GemmArgs& args, std::size_t rows,
            const ThreadScratch& scratch) {
  const kernels::LinearKernels& linear = *args.w.kernels;
  const std::size_t panels = kernels::panel_count(linear, args.w.n, args.w.gated);
  if (rows == 0 || panels == 0) return;
  const MatmulCut cut = MatmulCut::of(rows, panels, linear.panels_per_call,
                                      static_cast<std::size_t>(pool.threads()), linear.row_step);
  pool.run(cut.parts(), [&](std::size_t part, std::size_t thread) {
    linear.gemm(args, cut.row_range(part % cut.row_parts, rows),
                cut.panel_range(part / cut.row_parts), scratch.data + thread * scratch.stride);
  });
}

}  // namespace layard::backends::cpu
