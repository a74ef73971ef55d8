/// The compiler's vector intrinsics, without the warnings that g++ 12 gives about its own header.
#pragma once

// The AVX-512 header reads its own deliberately undefined registers (GCC PR 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
