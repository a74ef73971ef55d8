/// The table of one target: every kernel instantiated for it.
#pragma once

#include "kernels/attention-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/math-inl.h"
#include "kernels/pack-inl.h"
#include "kernels/rows-inl.h"

namespace layard::kernels {
namespace {

template <class T>
constexpr KernelTable make_table(Isa isa, std::string_view name) {
  using V = typename T::V;
  KernelTable table;
  table.isa = isa;
  table.name = name;
  table.panel_columns = panel_width<T>();
  table.panels_per_call = T::kGroup;
  table.gemm_scratch_floats = T::kBlockRows * T::kGroup * panel_width<T>();
  table.gemm = &gemm<T>;
  table.pack_panel = &pack_panel<T>;
  table.widen = &widen<V>;
  table.layer_norm = &layer_norm<V>;
  table.add = &add_to<V>;
  table.rope = &rope<V>;
  table.attention = &attention<T>;
  table.attention_scratch_floats = &attention_scratch_floats<T>;
  table.softmax = &softmax<V>;
  table.dot = &dot<V>;
  table.exp = &exp_all<V>;
  table.erf = &erf_all<V>;
  table.gelu = &gelu_all<V>;
  return table;
}

}  // namespace
}  // namespace layard::kernels
