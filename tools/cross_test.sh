#!/bin/sh
# Builds the kernels' tests for aarch64 and runs them under emulation: NEON without an ARM machine.
#
# usage: tools/cross_test.sh [GoogleTest flags]
# Needs the Debian packages g++-12-aarch64-linux-gnu, qemu-user-static and googletest. Exit status:
# that of the tests; 77 when a needed program is missing (named on stderr).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build/cross-aarch64"
cxx=${CROSS_CXX:-aarch64-linux-gnu-g++-12}
emulator=${CROSS_EMULATOR:-qemu-aarch64-static}
gtest=/usr/src/googletest/googletest

for program in "$cxx" "$emulator"; do
  if ! command -v "$program" >/dev/null; then
    echo "cross_test: $program is missing; install g++-12-aarch64-linux-gnu qemu-user-static" >&2
    exit 77
  fi
done
if ! [ -f "$gtest/src/gtest-all.cc" ]; then
  echo "cross_test: $gtest is missing; install the package googletest" >&2
  exit 77
fi

mkdir -p "$build"
# $1: object name, the rest: compiler arguments. Rebuilds only what is older than any source.
compile() {
  object="$build/$1.o"
  shift
  if [ -f "$object" ] && [ -z "$(find "$root/src/kernels" "$root/src/base" "$root/include" \
      "$root/tools/cross_test.sh" -newer "$object" -name '*.*' | head -n 1)" ]; then
    return
  fi
  "$cxx" -std=c++20 -O2 -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion \
    -I"$root/src" -I"$root/include" -isystem "$gtest/include" "$@" -c -o "$object"
}

compile gtest-all -w -I"$gtest" "$gtest/src/gtest-all.cc"
compile gtest_main -w -I"$gtest" "$gtest/src/gtest_main.cc"
for source in "$root"/src/kernels/*.cc "$root/src/base/error.cc" "$root/src/base/checks.cc"; do
  compile "$(basename "$source" .cc)" "$source"
done
"$cxx" -static -o "$build/kernels_test" "$build"/*.o -lpthread
"$emulator" "$build/kernels_test" "$@"
