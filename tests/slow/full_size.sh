#!/usr/bin/env bash
# Goal: a checkpoint of the published size (421,293,830 parameters) gives upstream's logits.
# The weights are random, made from a seed. tests/fixtures/full_size/goldens.jsonl holds what
# upstream's package answered with the same bytes (tools/goldens/make_goldens.py, laya 0.4.15).
#   full_size.sh LAYARD SOURCE_DIR WORK_DIR
set -euo pipefail
layard="$1" source_dir="$2" work="$3"
python="$source_dir/.venv/test/bin/python"
if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "skipped: numpy is not in .venv/test; run scripts/bootstrap --tests"
  exit 77
fi
free_kib=$(df --output=avail "$(dirname "$work")" | tail -1)
if [ "$free_kib" -lt 2000000 ]; then
  echo "skipped: the checkpoint needs 2 GB of disk, $((free_kib / 1024)) MB are free"
  exit 77
fi
trap 'rm -rf "$work"' EXIT
cd "$source_dir"
"$python" tools/goldens/make_random_checkpoint.py --preset modernbert-large --out "$work"
"$layard" parity "$work" --goldens tests/fixtures/full_size/goldens.jsonl
