# Every third-party library, found once. Each is used by one room's .cc files only.
find_package(Threads REQUIRED)
find_package(simdjson REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto SSL)
find_package(CURL REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers only
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
# Through pkg-config: its package for CMake also wants the HTTP server of a part we do not use.
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core)
# Through pkg-config: its package for CMake of Debian 12 names no imported target with a namespace.
pkg_check_modules(yaml-cpp REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
if(LAYARD_DEVELOPER)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  find_package(benchmark REQUIRED)
endif()
