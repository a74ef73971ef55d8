/// What every compute device offers: rows of token ids in, option logits out.
#pragma once

#include <span>

#include "encoder/rows.h"
#include "layard/error.h"

namespace layard::backends {

/// A model loaded on a device, with the working memory to run it.
class Session {
 public:
  virtual ~Session() = default;
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// One forward pass over each row.
  /// Shapes: outputs has one element per row; outputs[i].logits becomes [markers of rows[i]],
  /// outputs[i].act [act outputs]. Float32, before temperatures and softmax.
  /// Bounds: any number of rows; the session cuts them into passes it has memory for. No rows: ok.
  /// Errors: kUnsupportedShape when a row is longer than the encoder or device can take; kInternal
  /// for rows that break ModelRow's rules or when there is no memory. On an error, outputs hold
  /// nothing of use and the session stays usable.
  /// Ownership: rows are read during the call only; outputs are the caller's, and keep their
  /// memory when they are used again.
  /// Thread-safety: one caller at a time.
  virtual Status run(std::span<const encoder::ModelRow> rows,
                     std::span<encoder::RowOutput> outputs) = 0;
};

}  // namespace layard::backends
