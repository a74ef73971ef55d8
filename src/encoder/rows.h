/// What goes into a forward pass and what comes out, for every backend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace layard::encoder {

/// One prompt row. Views must outlive the call they are passed to.
struct ModelRow {
  /// Token ids [tokens], each in [0, vocab_size); at least one.
  std::span<const std::int32_t> ids;
  /// Positions of the option markers [options], ascending, each < tokens; at least one.
  std::span<const std::int32_t> markers;
  /// 0 choice, 1 score, 2 noul: the row of the type embedding.
  int type = 0;
  /// Parallel option layout only, else empty: position of each token [tokens], and the option each
  /// token belongs to [tokens] (0: none). Tokens of different options do not see each other.
  std::span<const std::int32_t> positions;
  std::span<const std::int32_t> options;
};

/// One row's answer, before temperatures.
struct RowOutput {
  /// One logit per marker.
  std::vector<float> logits;
  /// The act head's logits [act_outputs].
  std::vector<float> act;
};

}  // namespace layard::encoder
