#!/usr/bin/env python3
"""The peer benchmark's arithmetic and parsers, and that the peak probe builds and measures."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cuda_stubs  # noqa: E402
import measure  # noqa: E402

LARGE = {"model_type": "modernbert", "hidden_size": 1024, "intermediate_size": 2624,
         "num_hidden_layers": 28, "global_attn_every_n_layers": 3, "local_attention": 128}


def peak(fma, tile=None):
    found = {"fma_gflops": {"best": fma * 1.01, "median": fma}}
    if tile is not None:
        found["tile_bf16_gflops"] = {"best": tile, "median": tile}
    return found


def engine(name, median_ms, **more):
    peer, precision = name.split()
    return {"peer": peer, "precision": precision, "threads": 2, "grouping": "single",
            "median_ms": median_ms, **more}


class Groupings(unittest.TestCase):
    def test_one_row_has_one_way(self):
        self.assertEqual(measure.groupings([64]), {"single": [[0]]})

    def test_every_way_runs_every_row_once(self):
        lengths = [32, 192, 40, 128, 48, 96, 64, 80]
        for name, groups in measure.groupings(lengths).items():
            self.assertEqual(sorted(row for group in groups for row in group), list(range(8)), name)

    def test_sorted_groups_pad_least_of_the_batched_ways(self):
        lengths = [32, 192, 40, 128, 48, 96, 64, 80]
        ways = measure.groupings(lengths)
        self.assertEqual(measure.padded_tokens(lengths, ways["padded"]), 8 * 192)
        self.assertEqual(measure.padded_tokens(lengths, ways["single"]), sum(lengths))
        self.assertEqual(ways["sorted:4"], [[0, 2, 4, 6], [7, 5, 3, 1]])
        self.assertEqual(measure.padded_tokens(lengths, ways["sorted:4"]), 4 * 64 + 4 * 192)
        self.assertNotIn("sorted:8", ways)


class Choices(unittest.TestCase):
    def test_best_is_the_smallest_median_not_the_smallest_sample(self):
        self.assertEqual(measure.best({"a": [1, 9, 9], "b": [5, 5, 5]}), "b")

    def test_repeats_fill_a_slice_within_bounds(self):
        self.assertEqual(measure.repeats_for(10), 30)
        self.assertEqual(measure.repeats_for(5000), 1)
        self.assertEqual(measure.repeats_for(0.001), measure.REPEATS_MAX)

    def test_every_engine_takes_every_place(self):
        first = {measure.order_of_round(3, number)[0] for number in range(6)}
        self.assertEqual(first, {0, 1, 2})
        for number in range(6):
            self.assertEqual(sorted(measure.order_of_round(3, number)), [0, 1, 2])


class Peaks(unittest.TestCase):
    def test_spread_is_a_share_of_the_smallest(self):
        self.assertAlmostEqual(measure.spread([100, 106, 103]), 0.06)
        self.assertEqual(measure.spread([100]), 0.0)

    def test_either_roof_can_void_a_case(self):
        self.assertLess(measure.peaks_spread([peak(100, 1000), peak(104, 1000)]), 0.05)
        self.assertGreater(measure.peaks_spread([peak(100, 1000), peak(100, 1100)]), 0.05)
        self.assertGreater(measure.peaks_spread([peak(100), peak(106)]), 0.05)

    def test_roof_is_the_best_reading(self):
        self.assertAlmostEqual(measure.roof([peak(100), peak(90)], "fma_gflops"), 101)
        self.assertIsNone(measure.roof([peak(100)], "tile_bf16_gflops"))


class Work(unittest.TestCase):
    def test_published_size_costs_about_three_quarters_of_a_gflop_a_token(self):
        self.assertAlmostEqual(measure.row_gflop(LARGE, 64) / 64, 0.74, delta=0.02)

    def test_local_layers_stop_growing_at_their_window(self):
        long, longer = measure.row_gflop(LARGE, 4096), measure.row_gflop(LARGE, 8192)
        everywhere = {**LARGE, "local_attention": 1 << 20}
        self.assertLess(longer / long, measure.row_gflop(everywhere, 8192)
                        / measure.row_gflop(everywhere, 4096))

    def test_a_classic_encoder_has_no_gate(self):
        bert = {"model_type": "bert", "hidden_size": 384, "intermediate_size": 1536,
                "num_hidden_layers": 6, "head_layers": 0}
        weights = 6 * (4 * 384 * 384 + 2 * 384 * 1536)
        attention = 4 * 384 * 40 * 6 * 40
        self.assertAlmostEqual(measure.row_gflop(bert, 40), (2 * weights * 40 + attention) / 1e9)


class Table(unittest.TestCase):
    RECORD = {"case": "large-64", "rows": 1, "tokens": 64, "gflop": 47.4, "steady": True,
              "engines": {"layard float32": engine("layard float32", 200.0, of_roof=0.8),
                          "openvino float32": engine("openvino float32", 300.0, of_roof=0.53,
                                                     logits_max_difference=2e-6)}}

    def test_ratios_are_to_layard_float32(self):
        record = {**self.RECORD, "engines": {**self.RECORD["engines"],
                                             "layard int8": engine("layard int8", 100.0)}}
        lines = measure.case_table(record)
        self.assertEqual([line.split()[0:2] for line in lines[1:]],
                         [["layard", "int8"], ["layard", "float32"], ["openvino", "float32"]])
        self.assertIn("0.50x", lines[1])
        self.assertIn("1.50x", lines[3])
        self.assertIn("53.0% of peak", lines[3])
        self.assertIn("logits within 2.0e-06", lines[3])

    def test_unsteady_peaks_are_said(self):
        self.assertIn("UNSTEADY", measure.case_table({**self.RECORD, "steady": False})[0])
        self.assertNotIn("UNSTEADY", measure.case_table(self.RECORD)[0])


class CudaStubs(unittest.TestCase):
    def test_readelf_is_understood(self):
        dynamic = " 0x01 (NEEDED)   Shared library: [libcudart.so.13]\n 0x0e (SONAME) [x.so]\n"
        self.assertEqual(cuda_stubs.needed_libraries(dynamic), {"libcudart.so.13"})
        symbols = ("  1: 0000 0 FUNC GLOBAL DEFAULT UND cudaMalloc@libcudart.so.13 (5)\n"
                   "  2: 0000 0 FUNC GLOBAL DEFAULT UND ncclSend\n"
                   "  3: 0010 8 FUNC GLOBAL DEFAULT  12 mine\n")
        self.assertEqual(dict(cuda_stubs.undefined_functions(symbols)),
                         {"libcudart.so.13": {"cudaMalloc"}, "": {"ncclSend"}})
        versions = ("  0000: Version: 1  File: libcudart.so.13  Cnt: 1\n"
                    "  0010:   Name: libcudart.so.13  Flags: none  Version: 5\n")
        self.assertEqual(dict(cuda_stubs.versions_asked(versions)),
                         {"libcudart.so.13": {"libcudart.so.13"}})

    def test_counting_devices_finds_none_and_texts_are_texts(self):
        self.assertIn("return 100;", cuda_stubs.stub_function("cudaGetDeviceCount"))
        self.assertIn("return 0;", cuda_stubs.stub_function("cudaFree"))
        self.assertIn("const char*", cuda_stubs.stub_function("cudaGetErrorString"))


class PeakProbe(unittest.TestCase):
    def test_it_builds_and_measures_what_the_machine_has(self):
        with tempfile.TemporaryDirectory(prefix="peak_test.") as folder:
            binary = os.path.join(folder, "peak")
            subprocess.run(["g++", "-O2", "-std=c++20", "-pthread", HERE / "peak.cc", "-o", binary],
                           check=True)
            core = str(min(os.sched_getaffinity(0)))
            found = json.loads(subprocess.run([binary, core, "0.02", "16"], check=True,
                                              capture_output=True).stdout)
            self.assertEqual(found["cores"], 1)
            for key in ("fma_gflops", "read_gb_s"):
                self.assertGreaterEqual(found[key]["best"], found[key]["median"])
                self.assertGreater(found[key]["median"], 0)
            self.assertEqual(found["isa"] == "amx", "tile_bf16_gflops" in found)
            wrong = subprocess.run([binary, "x", "1"], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("core numbers", wrong.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
