#!/bin/sh
# Builds the tests of the rooms that compute and parse for aarch64 and runs them under emulation:
# NEON, and a processor whose char is unsigned, without an ARM machine.
#
# usage: tools/cross_test.sh [ROOM...] [-- GoogleTest flags]
# Without a room: kernels base tensor tokenizer decision encoder. JOBS: parallel jobs of the build.
# Needs what `scripts/bootstrap --with-cross` installs. Exit status: 1 when a test failed; 77 when
# something needed is missing (named on standard output).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build/aarch64"
sysroot="$root/build/sysroot-aarch64"
emulator=qemu-aarch64-static
rooms=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  rooms="$rooms $1"
  shift
done
[ $# -eq 0 ] || shift
: "${rooms:=kernels base tensor tokenizer decision encoder}"

for program in aarch64-linux-gnu-g++-12 "$emulator"; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: $program is missing; run scripts/bootstrap --with-cross"
    exit 77
  fi
done
if ! [ -f "$sysroot/.packages" ]; then
  echo "skipped: build/sysroot-aarch64 is missing; run scripts/bootstrap --with-cross"
  exit 77
fi

targets=
for room in $rooms; do
  targets="$targets $(echo "$room" | tr / _)_test"
done
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLAYARD_DEVELOPER=ON \
  -DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" >/dev/null
# shellcheck disable=SC2086  # one word for each target
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target $targets

# Tests that are left out under emulation, by room. base: bounds on milliseconds, which here would
# time the emulator.
left_out() {
  case "$1" in
    base) echo '-Json.ManyKeysStayLinear:Json.TooManyKeysAreRefusedQuickly' ;;
    *) echo '*' ;;
  esac
}

status=0
# run ROOM PROCESSOR FEATURES FILTER [GoogleTest flags]
run() {
  room=$1 processor=$2 features=$3 filter=$4
  shift 4
  echo "== $room on $processor, tests $filter"
  began=$(date +%s)
  LAYARD_TEST_NEON="$features" "$emulator" -L "$sysroot" -cpu "$processor" \
    "$build/src/$room/$(echo "$room" | tr / _)_test" --gtest_brief=1 --gtest_filter="$filter" \
    "$@" || status=1
  echo "== $room on $processor: $(($(date +%s) - began)) s"
}

for room in $rooms; do
  run "$room" max neon+bf16+i8mm "$(left_out "$room")" "$@"
  # A processor without BFMMLA and SMMLA must not meet them.
  if [ "$room" = kernels ]; then
    run kernels cortex-a72 neon 'NeonBlocks.*:Kernels.LinearFormats*:Kernels.S*' "$@"
  fi
done
exit "$status"
