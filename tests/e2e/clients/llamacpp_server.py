#!/usr/bin/env python3
"""llama.cpp's own server, as the package xllamacpp has it: `llamacpp_server.py PORT MODEL ALIAS
[SLOTS] [embeddings]`. It runs until a signal ends it."""

import signal
import sys

import xllamacpp

CONTEXT_TOKENS_EACH = 8192


def main():
    port, model, alias, *more = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = int(more[0]) if more else 2
    params.n_ctx = CONTEXT_TOKENS_EACH * params.n_parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_slots = True
    if "embeddings" in more:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)  # it answers on a thread of its own from here on
    print(server.listening_address, flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
