/// Symbol visibility of the shared library. Everything else is hidden.
#pragma once

#if defined(_WIN32)
#define LAYARD_EXPORT
#else
#define LAYARD_EXPORT __attribute__((visibility("default")))
#endif
