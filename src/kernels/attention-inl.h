/// Softmax attention of one head over one row's queries, without an n x n matrix.
///
/// Keys and values the call can see are packed once as panels; then for each tile of queries: one
/// buffer of scores (tile rows x keys in reach), softmax of each query over exactly its visible
/// keys (others become zero), product with the values, division by the sum.
#pragma once

#include "kernels/gemm-inl.h"
#include "kernels/rows-inl.h"

namespace layard::kernels {
namespace {

/// Panels of `columns` x [k]: keys as columns. out[(p * k + i) * panel + c] = from[c][i].
template <class T>
void pack_keys(const float* from, std::size_t ld, std::size_t keys, std::size_t k, float* out) {
  constexpr std::size_t kPanel = panel_width<T>();
  for (std::size_t first = 0; first < keys; first += kPanel, out += k * kPanel) {
    const std::size_t count = keys - first < kPanel ? keys - first : kPanel;
    for (std::size_t c = 0; c < count; ++c) {
      const float* key = from + (first + c) * ld;
      for (std::size_t i = 0; i < k; ++i) out[i * kPanel + c] = key[i];
    }
    for (std::size_t c = count; c < kPanel; ++c) {
      for (std::size_t i = 0; i < k; ++i) out[i * kPanel + c] = 0.0F;
    }
  }
}

/// Panels of head_dim columns x [keys]: values as they lie, cut and padded with zeros.
template <class T>
void pack_values(const float* from, std::size_t ld, std::size_t keys, std::size_t head_dim,
                 float* out) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  for (std::size_t first = 0; first < head_dim; first += kPanel) {
    for (std::size_t j = 0; j < keys; ++j, out += kPanel) {
      for (std::size_t v = 0; v < kPanelVectors; ++v) {
        const std::size_t column = first + v * V::kWidth;
        const float* value = from + j * ld + column;
        if (column + V::kWidth <= head_dim) {
          V::store(out + v * V::kWidth, V::load(value));
        } else {
          const std::size_t left = column < head_dim ? head_dim - column : 0;
          V::store(out + v * V::kWidth, left == 0 ? V::zero() : V::load_first(value, left));
        }
      }
    }
  }
}

LAYARD_INLINE std::size_t query_token(const AttentionArgs& args, std::size_t query) {
  return args.query_tokens == nullptr ? query : static_cast<std::size_t>(args.query_tokens[query]);
}

/// Keys that queries [queries.begin, queries.end) may see, as one range.
LAYARD_INLINE IndexRange keys_in_reach(const AttentionArgs& args, IndexRange queries) {
  if (args.half_window == AttentionArgs::kNoWindow || args.query_tokens != nullptr) {
    return {0, args.tokens};
  }
  const std::size_t half = args.half_window;
  if (args.positions == nullptr) {
    const std::size_t end = queries.end + half;
    return {queries.begin > half ? queries.begin - half : 0, end < args.tokens ? end : args.tokens};
  }
  std::int64_t lowest = args.positions[queries.begin];
  std::int64_t highest = lowest;
  for (std::size_t q = queries.begin; q < queries.end; ++q) {
    lowest = args.positions[q] < lowest ? args.positions[q] : lowest;
    highest = args.positions[q] > highest ? args.positions[q] : highest;
  }
  const auto reach = static_cast<std::int64_t>(half);
  IndexRange keys{args.tokens, 0};
  for (std::size_t j = 0; j < args.tokens; ++j) {
    if (args.positions[j] < lowest - reach || args.positions[j] > highest + reach) continue;
    keys.begin = j < keys.begin ? j : keys.begin;
    keys.end = j + 1;
  }
  return keys;
}

/// Scores of keys that `query` must not see become minus infinity (parallel option layout).
LAYARD_INLINE void mask_scores(const AttentionArgs& args, std::size_t query, IndexRange keys,
                               float* scores) {
  const std::size_t token = query_token(args, query);
  const std::int32_t option = args.options[token];
  const bool window = args.half_window != AttentionArgs::kNoWindow;
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    bool hidden = option != 0 && args.options[j] != 0 && args.options[j] != option;
    if (window) {
      const std::int64_t distance = static_cast<std::int64_t>(args.positions[token]) -
                                    static_cast<std::int64_t>(args.positions[j]);
      hidden = hidden ||
               (distance < 0 ? -distance : distance) > static_cast<std::int64_t>(args.half_window);
    }
    if (hidden) scores[j - keys.begin] = -__builtin_inff();
  }
}

/// Turns one query's scores over `keys` into exponentials, zero where not visible; their sum.
template <class V>
float weigh(const AttentionArgs& args, std::size_t query, IndexRange keys, float* scores) {
  IndexRange seen = keys;
  if (args.options != nullptr) {
    mask_scores(args, query, keys, scores);
  } else if (args.half_window != AttentionArgs::kNoWindow) {
    seen = keys_in_reach(args, {query, query + 1});
    for (std::size_t j = keys.begin; j < seen.begin; ++j) scores[j - keys.begin] = 0.0F;
    for (std::size_t j = seen.end; j < keys.end; ++j) scores[j - keys.begin] = 0.0F;
  }
  return exp_shifted<V>(args.scale, seen.end - seen.begin, scores + (seen.begin - keys.begin));
}

template <class V>
LAYARD_INLINE void put_scaled(const float* from, std::size_t n, float factor, float* to) {
  const typename V::Reg f = V::set1(factor);
  std::size_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) V::store(to + i, V::mul(V::load(from + i), f));
  if (i < n) V::store_first(to + i, n - i, V::mul(V::load_first(from + i, n - i), f));
}

/// What one attention call packed, and where its tiles put their scores.
struct AttentionScratch {
  const float* keys;
  const float* values;
  float* scores;
  IndexRange reach;  ///< tokens packed
};

template <class T>
void attend_tile(const AttentionArgs& args, std::size_t query, std::size_t rows,
                 const AttentionScratch& scratch) {
  using V = typename T::V;
  constexpr std::size_t kPanel = panel_width<T>();
  const std::size_t d = args.head_dim;
  const std::size_t packed = scratch.reach.end - scratch.reach.begin;
  const std::size_t ld_scores = round_up(packed, kPanel);
  const IndexRange tile_reach = keys_in_reach(args, {query, query + rows});
  const std::size_t panel_begin = (tile_reach.begin - scratch.reach.begin) / kPanel;
  const std::size_t panel_end = (tile_reach.end - scratch.reach.begin + kPanel - 1) / kPanel;
  for (std::size_t p = panel_begin; p < panel_end; ++p) {
    tile_for<T>(rows)(args.q + query * args.ld_q, args.ld_q, scratch.keys + p * d * kPanel, d,
                      scratch.scores + p * kPanel, ld_scores, false,
                      reinterpret_cast<const std::byte*>(scratch.keys));
  }
  const std::size_t begin = panel_begin * kPanel;
  const std::size_t end = panel_end * kPanel < packed ? panel_end * kPanel : packed;
  float factor[T::kTileRows];
  for (std::size_t r = 0; r < rows; ++r) {
    factor[r] =
        1.0F / weigh<V>(args, query + r, {scratch.reach.begin + begin, scratch.reach.begin + end},
                        scratch.scores + r * ld_scores + begin);
  }
  float tile[T::kTileRows * kPanel];
  for (std::size_t column = 0; column < d; column += kPanel) {
    const std::size_t width = d - column < kPanel ? d - column : kPanel;
    tile_for<T>(rows)(scratch.scores + begin, ld_scores,
                      scratch.values + column * packed + begin * kPanel, end - begin, tile, kPanel,
                      false, reinterpret_cast<const std::byte*>(scratch.values));
    for (std::size_t r = 0; r < rows; ++r) {
      put_scaled<V>(tile + r * kPanel, width, factor[r],
                    args.out + (query + r) * args.ld_out + column);
    }
  }
}

template <class T>
std::size_t attention_scratch_floats(std::size_t keys, std::size_t head_dim) {
  constexpr std::size_t kPanel = panel_width<T>();
  const std::size_t padded = round_up(keys, kPanel);
  return padded * head_dim + padded * round_up(head_dim, kPanel) + padded * T::kTileRows;
}

template <class T>
void attention(const AttentionArgs& args, IndexRange queries, float* scratch) {
  constexpr std::size_t kPanel = panel_width<T>();
  const IndexRange reach = keys_in_reach(args, queries);
  const std::size_t keys = reach.end - reach.begin;
  const std::size_t padded = round_up(keys, kPanel);
  float* values = scratch + padded * args.head_dim;
  float* scores = values + padded * round_up(args.head_dim, kPanel);
  pack_keys<T>(args.k + reach.begin * args.ld_kv, args.ld_kv, keys, args.head_dim, scratch);
  pack_values<T>(args.v + reach.begin * args.ld_kv, args.ld_kv, keys, args.head_dim, values);
  const AttentionScratch packed{scratch, values, scores, reach};
  if (queries.begin == queries.end) return;
  const TileCut cut(queries.end - queries.begin, T::kTileRows);
  std::size_t query = queries.begin;
  for (std::size_t t = 0; t < cut.tiles; ++t) {
    attend_tile<T>(args, query, cut.height(t), packed);
    query += cut.height(t);
  }
}

}  // namespace
}  // namespace layard::kernels
