#include "backends/cpu/cpu_session.h"

#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "backends/cpu/cpu_count.h"
#include "base/checks.h"
#include "encoder/reference.h"

namespace layard::backends::cpu {

CpuSession::CpuSession(std::shared_ptr<const CpuModel> model, const CpuOptions& options)
    : model_(std::move(model)),
      options_(options),
      rope_full_(model_->config().rope_theta_full,
                 static_cast<std::size_t>(model_->config().head_dim())),
      rope_sliding_(model_->config().rope_theta_sliding,
                    static_cast<std::size_t>(model_->config().head_dim())),
      pool_(options.threads > 0 ? options.threads : cpu_count()) {}

Result<std::unique_ptr<CpuSession>> CpuSession::open(std::shared_ptr<const CpuModel> model,
                                                     const CpuOptions& options) {
  LAYARD_CHECK(model != nullptr);
  try {
    return std::unique_ptr<CpuSession>(new CpuSession(std::move(model), options));
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kInternal, std::string("cannot start the cpu device's threads: ") +
                                           error.what() + "; ask for fewer threads"};
  }
}

std::size_t CpuSession::rows_of_pass(std::span<const encoder::ModelRow> rows) const {
  std::size_t tokens = 0;
  std::size_t count = 0;
  for (const encoder::ModelRow& row : rows) {
    tokens += row.ids.size();
    if (count > 0 && tokens > options_.tokens_per_pass_max) break;
    ++count;
  }
  return count;
}

Status CpuSession::run(std::span<const encoder::ModelRow> rows,
                       std::span<encoder::RowOutput> outputs) {
  LAYARD_CHECK(rows.size() == outputs.size());
  LAYARD_TRY(encoder::check_rows(model_->config(), rows));
  try {
    while (!rows.empty()) {
      const std::size_t count = rows_of_pass(rows);
      plan_.build(rows.first(count), {static_cast<std::size_t>(model_->config().heads),
                                      4 * static_cast<std::size_t>(pool_.threads())});
      Forward({*model_, pool_, arena_, rope_full_, rope_sliding_}, plan_).run(outputs.first(count));
      rows = rows.subspan(count);
      outputs = outputs.subspan(count);
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal,
                 "no memory for the working buffers of this batch; send shorter or fewer rows"};
  }
  return {};
}

}  // namespace layard::backends::cpu
