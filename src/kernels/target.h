/// Opens and closes a region of code compiled for one instruction set, without compiler flags.
///
/// Only code that never leaves its .cc file may stand in a region: a weak function compiled there
/// (a std:: template, an inline function) could be chosen by the linker for the whole program and
/// then run on a processor that lacks the instructions. Hence: standard headers before the region,
/// our -inl.h headers (anonymous namespaces) inside it.
#pragma once

#if defined(__clang__)
#define LAYARD_PRAGMA(text) _Pragma(#text)
#define LAYARD_TARGET_BEGIN(features) \
  LAYARD_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define LAYARD_TARGET_END _Pragma("clang attribute pop")
#define LAYARD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LAYARD_PRAGMA(text) _Pragma(#text)
#define LAYARD_TARGET_BEGIN(features) \
  _Pragma("GCC push_options") LAYARD_PRAGMA(GCC target(features))
#define LAYARD_TARGET_END _Pragma("GCC pop_options")
#define LAYARD_UNROLL _Pragma("GCC unroll 16")
#endif

#define LAYARD_INLINE inline __attribute__((always_inline))
