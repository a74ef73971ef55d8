"""One class per runtime, all with the same four methods.

`batch(rows)` makes inputs padded to the longest row, `run(inputs)` is what is timed and returns
logits [rows, 2], `text(request)` goes from a request to its answer as JSON, `info()` says which
versions ran and which precision the runtime itself reports.
"""

import ctypes
import json
import math
import os
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np

TOKENS_MAX = 16384  # of one llama.cpp batch


def arrays(rows: list, pad: int) -> list:
    """ids, mask, marker positions, marker mask, types: the inputs of the published model."""
    count, longest = len(rows), max(len(row["ids"]) for row in rows)
    ids = np.full((count, longest), pad, np.int64)
    mask = np.zeros((count, longest), np.int64)
    for at, row in enumerate(rows):
        ids[at, :len(row["ids"])] = row["ids"]
        mask[at, :len(row["ids"])] = 1
    markers = np.array([row["markers"] for row in rows], np.int64)
    types = np.array([row["type"] for row in rows], np.int64)
    return [ids, mask, markers, np.ones(markers.shape, bool), types]


def answer(logits, temperature: float) -> str:
    """A yes/no answer as a user would print it."""
    scaled = [float(v) / temperature for v in logits]
    high = max(scaled)
    weights = [math.exp(v - high) for v in scaled]
    true = weights[1] / sum(weights)
    return json.dumps({"answers": {"q": {"type": "noul", "noul": round(true, 4),
                                         "confidence": round(max(true, 1 - true), 4)}}})


class Graph:
    """What OpenVINO and ONNX Runtime share: prompts by the Rust tokenizers, answers in Python."""

    def __init__(self, checkpoint: Path):
        from prompts import PromptBuilder
        self.builder = PromptBuilder(checkpoint)
        agent = json.loads((checkpoint / "rl_agent_config.json").read_text())
        self.temperature = agent["temperature_by_options"].get("noul:2", agent["temperature"][2])

    def batch(self, rows: list) -> list:
        return arrays(rows, self.builder.pad)

    def text(self, request: dict) -> str:
        return answer(self.run(self.batch(self.builder.rows(request)))[0], self.temperature)


class OpenVino(Graph):
    HINTS = {"float32": "f32", "bfloat16": "bf16"}

    def __init__(self, checkpoint: Path, files: Path, precision: str, threads: int):
        super().__init__(checkpoint)
        import openvino
        core = openvino.Core()
        self.compiled = core.compile_model(str(files / "model.xml"), "CPU", {
            "INFERENCE_PRECISION_HINT": self.HINTS[precision], "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1})
        self.request = self.compiled.create_infer_request()

    def run(self, inputs: list):
        return self.request.infer(inputs, share_inputs=True, share_outputs=True)[0]

    def info(self) -> dict:
        hint = self.compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        # The hint says what may be used; the compiled graph says what its products run in.
        nodes = [node.get_rt_info() for node in self.compiled.get_runtime_model().get_ops()]
        products = Counter(node["runtimePrecision"].astype(str) for node in nodes
                           if node["layerType"].astype(str) == "FullyConnected")
        return {"versions": {"openvino": version("openvino")}, "precision_reported": hint,
                "products_run_in": dict(products)}


class OnnxRuntime(Graph):
    def __init__(self, checkpoint: Path, files: Path, precision: str, threads: int):
        super().__init__(checkpoint)
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(files / "model.onnx"), options,
                                                    providers=["CPUExecutionProvider"])
        self.names = [node.name for node in self.session.get_inputs()]

    def run(self, inputs: list):
        return self.session.run(["logits"], dict(zip(self.names, inputs)))[0]

    def info(self) -> dict:
        return {"versions": {"onnxruntime": version("onnxruntime")},
                "precision_reported": "float32"}


class Torch:
    """The upstream package's model; in bfloat16 under autocast, its weights cast once."""

    def __init__(self, checkpoint: Path, files: Path, precision: str, threads: int):
        import laya
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.agent = laya.load(str(checkpoint.resolve()), device="cpu")
        if precision == "bfloat16":
            torch.autocast("cpu", torch.bfloat16, cache_enabled=True).__enter__()

    def batch(self, rows: list) -> list:
        return [self.torch.from_numpy(a) for a in arrays(rows, self.agent.tok.pad_token_id)]

    def run(self, inputs: list):
        return self.agent.model(*inputs)[0].float().numpy()

    def text(self, request: dict) -> str:
        return json.dumps(self.agent.predict(request["state"], request["questions"]))

    def first_hidden(self, row: dict) -> list:
        """The encoder's output for the first token: what runtimes without the head give."""
        ids, mask = self.batch([row])[:2]
        hidden = self.agent.model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return hidden[0, 0].float().tolist()

    def info(self) -> dict:
        autocast = self.torch.is_autocast_enabled("cpu")
        return {"versions": {name: version(name) for name in ("torch", "laya", "transformers")},
                "precision_reported": "bfloat16" if autocast else "float32"}


class LlamaCpp:
    """llama.cpp through its C interface. It runs the encoder only: no head, so no logits."""

    def __init__(self, checkpoint: Path, files: Path, precision: str, threads: int):
        import llama_cpp
        self.api = api = llama_cpp
        self.quiet = api.llama_log_callback(lambda level, text, data: None)
        api.llama_log_set(self.quiet, ctypes.c_void_p(0))
        api.llama_backend_init()
        self.width = json.loads((checkpoint / "encoder/config.json").read_text())["hidden_size"]
        path = files / f"encoder-{precision}.gguf"
        self.model = api.llama_model_load_from_file(str(path).encode(),
                                                    api.llama_model_default_params())
        params = api.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = TOKENS_MAX
        params.n_seq_max = 64
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.pooling_type = api.LLAMA_POOLING_TYPE_CLS
        params.kv_unified = True
        self.context = api.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError(f"llama.cpp could not load {path.name}")

    def batch(self, rows: list):
        """Rows of one batch lie one behind the other, each its own sequence: nothing is padded."""
        batch = self.api.llama_batch_init(sum(len(row["ids"]) for row in rows), 0, 1)
        at = 0
        for sequence, row in enumerate(rows):
            for position, token in enumerate(row["ids"]):
                batch.token[at], batch.pos[at] = token, position
                batch.n_seq_id[at], batch.seq_id[at][0] = 1, sequence
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at
        return batch, len(rows)

    def run(self, inputs):
        batch, count = inputs
        status = self.api.llama_encode(self.context, batch)
        if status != 0:
            raise RuntimeError(f"llama_encode returned {status}")
        return [np.ctypeslib.as_array(self.api.llama_get_embeddings_seq(self.context, at),
                                      (self.width,)) for at in range(count)]

    def info(self) -> dict:
        features = self.api.llama_print_system_info().decode()
        return {"versions": {"llama-cpp-python": version("llama-cpp-python")},
                "precision_reported": "weights float16, activations rounded to float16",
                "built_for": " ".join(part.split("=")[0].strip() for part in features.split("|")
                                      if part.strip().endswith("= 1"))}


ADAPTERS = {"openvino": OpenVino, "onnxruntime": OnnxRuntime, "torch": Torch, "llama": LlamaCpp}


def quiet_environment(threads: int) -> dict:
    """Settings a careful user gives every Python runtime; the allocator's keep freed memory."""
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
            "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
            "MALLOC_TOP_PAD_": str(1 << 28), "PYTHONWARNINGS": "ignore"}
