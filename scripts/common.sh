# shellcheck shell=bash
# Shared by the scripts of this folder: where things are, and how steps are announced.
root_dir="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root_dir"
jobs="${JOBS:-$(nproc 2>/dev/null || echo 2)}"
reports_dir="$root_dir/build/reports"

# Step lines go to stderr, with the time since the script began.
step() { printf '\n== %s  [%d min %02d s]\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)) >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# configure PRESET [cmake option ...]: quiet unless it fails.
configure() {
  local preset="$1" log
  shift
  log="$(mktemp)"
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "cmake --preset $preset failed"
  fi
  rm -f "$log"
}

# run_tests PRESET REPORT LABEL: JUnit results go to build/reports/REPORT.xml. One more test than
# cores, since many of them wait.
run_tests() {
  mkdir -p "$reports_dir"
  rm -f "$reports_dir/$2.xml"
  python3 -B tools/run_tests.py --build "build/$1" --label "$3" --jobs $((jobs + 1)) \
    --junit "$reports_dir/$2.xml"
}
