"""Layard beside the runtimes a user could pick, on the same prompts and cores, in one run.

    scripts/bench-peers [--cases GLOB ...] [--peers NAME ...] [--dtype D ...] [--rounds N]

Makes the checkpoints, exports them for the peers, finds each peer's best batching and thread count,
then times all engines in turn, round after round, and prints medians, ratios and shares of the
measured peak. docs/benchmarks.md says how to read the result.
"""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("openvino", "torch", "onnxruntime", "llama")


def arguments_of(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench-peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=["*"], metavar="GLOB")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--dtype", nargs="+", default=["float32"],
                        choices=("float32", "bfloat16", "int8"), help="of Layard")
    parser.add_argument("--isa", help="forces Layard's kernels, as LAYARD_FORCE_ISA does")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tries", type=int, default=3,
                        help="measure a case again, so often in all, when the peaks moved")
    parser.add_argument("--cores", help="as 0,1; default: all this process may use")
    parser.add_argument("--threads", type=int, nargs="+",
                        help="tried for peers; default: 1 and all cores")
    parser.add_argument("--driver", type=Path,
                        default=ROOT / "build/release/bench/peers/layard_driver")
    parser.add_argument("--out", type=Path, help="result file; default: under bench/results, "
                                                 "in local/ unless everything was run")
    return parser.parse_args(argv)


if __name__ == "__main__":  # so that --help and a slip are answered before anything is installed
    arguments_of()
