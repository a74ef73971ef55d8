# Toolchain: builds for 64-bit ARM with Debian's cross compiler and the libraries that
# `scripts/bootstrap --with-cross` puts into build/sysroot-aarch64; programs run under qemu.
#   cmake -S . -B build/aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(LAYARD_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-aarch64" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH "${LAYARD_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${LAYARD_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${LAYARD_SYSROOT}")

# Debian's second folder of headers, which a native compiler knows by itself.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${LAYARD_SYSROOT}/usr/include/aarch64-linux-gnu")
# Libraries of libraries (curl's, above all) are found where they are.
set(LAYARD_SYSROOT_LIBRARIES
  "${LAYARD_SYSROOT}/usr/lib/aarch64-linux-gnu:${LAYARD_SYSROOT}/lib/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${LAYARD_SYSROOT_LIBRARIES}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${LAYARD_SYSROOT}" -cpu max)
