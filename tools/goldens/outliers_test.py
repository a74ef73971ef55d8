#!/usr/bin/env python3
"""tools/make-outlier-checkpoint keeps its promise, and its arithmetic is what it says."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not in .venv/test; run scripts/bootstrap --tests")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/goldens"))

from numpy_forward import exact_product, int8_product  # noqa: E402


class Int8Product(unittest.TestCase):
    X = np.array([[1.0, -2.0, 3.0], [100.0, 0.5, -127.0]])
    W = np.array([[127.0, 0.0, 0.0], [0.0, 0.01, 0.0]])

    def test_own_scales_keep_small_rows_and_channels(self):
        found = int8_product(per_row=True)(self.X, self.W)
        # Row 0 goes in steps of 3/127, row 1 in steps of 1; channel 1 in steps of 0.01/127.
        np.testing.assert_allclose(found, [[42 * 3 / 127 * 127, -85 * 3 / 127 * 0.01],
                                           [100 * 127, 0.0]], rtol=1e-12)
        np.testing.assert_allclose(found, exact_product(self.X, self.W), atol=1.1)

    def test_one_scale_loses_them(self):
        self.assertEqual(int8_product(per_row=False)(self.X, self.W)[0, 1], 0.0)


class Checkpoint(unittest.TestCase):
    def make(self, folder, *more):
        return subprocess.run(
            [sys.executable, "-B", ROOT / "tools/make-outlier-checkpoint", "--size", "small",
             "--out", folder, *more], capture_output=True, text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})

    def test_per_tensor_int8_fails_and_float32_does_not(self):
        with tempfile.TemporaryDirectory(prefix="outliers_test.") as folder:
            done = self.make(folder, "--check", "--rows", "4")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            report = json.loads(done.stdout)
            errors = [report[name]["logits_max_difference"]
                      for name in ("float32", "int8_per_row", "int8_per_tensor")]
            self.assertLess(errors[0] * 1000, errors[1])
            self.assertLess(errors[1] * 3, errors[2])
            self.assertGreaterEqual(report["layers"], 12)
            self.assertLess(report["residual_max_before"], 50)
            self.assertGreater(report["residual_max_from_sink_layer"], 5000)
            header_bytes = (pathlib.Path(folder) / "model.safetensors").read_bytes()[:8]
            self.assertLess(int.from_bytes(header_bytes, "little"), 100_000)
            for name in ("rl_agent_config.json", "encoder/config.json", "tokenizer/tokenizer.json"):
                self.assertTrue((pathlib.Path(folder) / name).is_file(), name)


if __name__ == "__main__":
    unittest.main(verbosity=1)
