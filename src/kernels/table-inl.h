/// The table of one target: every kernel instantiated for it.
#pragma once

#include "kernels/attention-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/int8-inl.h"
#include "kernels/math-inl.h"
#include "kernels/pack-inl.h"
#include "kernels/rows-inl.h"

namespace layard::kernels {
namespace {

template <class T, class Store, class As>
constexpr LinearKernels float_kernels(std::string_view name) {
  LinearKernels linear;
  linear.name = name;
  linear.panel_columns = panel_width<T>();
  linear.panels_per_call = T::kGroup;
  linear.panel_bytes = &float_panel_bytes<T, Store>;
  linear.pack_panel = &pack_panel<T, As>;
  linear.scratch_bytes = &gemm_scratch_bytes<FloatProduct<T, Store>>;
  linear.gemm = &gemm<FloatProduct<T, Store>>;
  return linear;
}

/// The formats that every target has.
template <class T>
struct Formats {
  static constexpr LinearKernels kFloat32 = float_kernels<T, FloatStore<T>, AsFloat32>("float32");
  static constexpr LinearKernels kFloat16 =
      float_kernels<T, HalfStore<T, ElementType::kFloat16>, AsFloat16>("float16 weights");
  static constexpr LinearKernels kBFloat16 =
      float_kernels<T, HalfStore<T, ElementType::kBFloat16>, AsBFloat16>("bfloat16 weights");
  static constexpr LinearKernels kInt8 = int8_kernels<T>("int8");
};

template <class T>
constexpr KernelTable make_table(Isa isa, std::string_view name) {
  using V = typename T::V;
  KernelTable table;
  table.isa = isa;
  table.name = name;
  table.set(LinearFormat::kFloat32, Formats<T>::kFloat32);
  table.set(LinearFormat::kFloat16Weights, Formats<T>::kFloat16);
  table.set(LinearFormat::kBFloat16Weights, Formats<T>::kBFloat16);
  table.set(LinearFormat::kBFloat16, Formats<T>::kBFloat16);
  table.set(LinearFormat::kInt8, Formats<T>::kInt8);
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
