#!/usr/bin/env bash
# Trains, calibrates, exports and measures models/starter with one command:
#
#   tools/train_starter/train.sh --data ../shared/datasets [--tokens 10500000] [--start FILE] \
#     [--out models/starter]
#
# Run it from anywhere; paths in arguments are relative to the repository root. Stop it at any
# time: the next call goes on from the last save (every 10 minutes) under build/train_starter.
# To start over, remove that folder.
set -euo pipefail

cd "$(dirname "$0")/../.."
here=tools/train_starter
venv=.venv/train
work=build/train_starter
data=""
tokens=10500000
start=()
out=models/starter
while [ $# -gt 0 ]; do
  case "$1" in
    --data) data=$2; shift 2 ;;
    --tokens) tokens=$2; shift 2 ;;
    --start) start=(--start "$2"); shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) echo "train.sh: unknown argument $1;" \
           "usage: train.sh --data FOLDER [--tokens N] [--start FILE] [--out FOLDER]" >&2
       exit 64 ;;
  esac
done
if [ ! -f "$data/request_kind.jsonl.gz" ]; then
  echo "train.sh: --data must name the folder with request_kind.jsonl.gz and the other sources," \
       "got '$data'" >&2
  exit 64
fi

if [ ! -x build/layard ]; then
  echo "train.sh: build/layard is missing, which measures the labelled requests; run make build" >&2
  exit 64
fi

# The marker is written last, so an interrupted installation is repeated.
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi

# glibc returns large buffers to the kernel after every step by default, and faulting them in
# again takes most of the time on some machines. These settings keep them.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=1073741824
export TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1

python="$venv/bin/python"
mkdir -p "$work"
"$python" "$here/train.py" --data "$data" --work "$work" --tokens "$tokens" "${start[@]}"
"$python" "$here/export.py" --weights "$work/best.pt" --out "$work/candidate"
"$python" "$here/calibrate.py" --model "./$work/candidate" --data "$data" \
  --out "$work/temperatures.json"
"$python" "$here/export.py" --weights "$work/best.pt" --temperatures "$work/temperatures.json" \
  --out "$out"
"$python" "$here/evaluate.py" --model "./$out" --data "$data" --out "$out/figures.json"
for gate in "" --no-gate; do
  build/layard route eval --model "./$out" --cases tests/requests/cases.jsonl --format json $gate \
    >"$work/route_eval$gate.json"
done
"$python" "$here/card.py" --figures "$out/figures.json" --log "$work/log.jsonl" \
  --temperatures "$work/temperatures.json" --route-eval "$work/route_eval.json" \
  --route-eval-no-gate "$work/route_eval--no-gate.json" --out "$out/README.md"
echo "train.sh: done, see $out/README.md"
