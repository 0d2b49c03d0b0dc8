"""llama.cpp's own HTTP server, in this process, behind the flags of `llama-server`.

For machines whose processor lacks instructions that the prebuilt program needs. A flag that is not known here ends it, as it
would end the program.
"""

import argparse
import sys
import threading

import xllamacpp


def flags():
    """The flags that are known, by the names that `llama-server` gives them."""
    parser = argparse.ArgumentParser(prog="llama-server", allow_abbrev=False)
    text, number, switch = {}, {"type": int}, {"action": argparse.BooleanOptionalAction}
    for names, kind in {
        ("-m", "--model"): text,
        ("-a", "--alias"): text,
        ("--host",): text,
        ("--port",): number,
        ("-np", "--parallel"): number,
        ("-c", "--ctx-size"): number,
        ("-b", "--batch-size"): number,
        ("-ub", "--ubatch-size"): number,
        ("-t", "--threads"): number,
        ("-tb", "--threads-batch"): number,
        ("--threads-http",): number,
        ("--cache-reuse",): number,
        ("--cache-ram",): number,
        ("-sps", "--slot-prompt-similarity"): {"type": float},
        ("--metrics",): switch,
        ("--slots",): switch,
        ("-cb", "--cont-batching"): switch,
        ("-kvu", "--kv-unified"): switch,
        ("--cache-prompt",): switch,
        ("--swa-full",): switch,
        ("--warmup",): switch,
        ("--repack",): switch,
    }.items():
        parser.add_argument(*names, **kind)
    return parser


# Where a flag goes. Those of threads and the address are set apart.
FIELDS = {
    "parallel": "n_parallel",
    "ctx_size": "n_ctx",
    "batch_size": "n_batch",
    "ubatch_size": "n_ubatch",
    "threads_http": "n_threads_http",
    "cache_reuse": "n_cache_reuse",
    "cache_ram": "cache_ram_mib",
    "slot_prompt_similarity": "slot_prompt_similarity",
    "metrics": "endpoint_metrics",
    "slots": "endpoint_slots",
    "cont_batching": "cont_batching",
    "kv_unified": "kv_unified",
    "cache_prompt": "cache_prompt",
    "swa_full": "swa_full",
    "warmup": "warmup",
}


def parameters(given):
    """The server's parameters; what was not given stays as the server has it."""
    it = xllamacpp.CommonParams()
    for flag, field in FIELDS.items():
        if getattr(given, flag) is not None:
            setattr(it, field, getattr(given, flag))
    it.model.path = given.model
    it.hostnames = [given.host or "127.0.0.1"]
    it.port = 8080 if given.port is None else given.port
    it.ui = False
    if given.alias is not None:
        it.model_alias = {given.alias}
    if given.repack is not None:
        it.no_extra_bufts = not given.repack
    if given.threads is not None:
        it.cpuparams.n_threads = given.threads
    if given.threads_batch is not None:
        it.cpuparams_batch.n_threads = given.threads_batch
    return it


def main():
    given = flags().parse_args()
    try:
        server = xllamacpp.Server(parameters(given))
    except (RuntimeError, ValueError) as error:
        sys.exit(f"failed to load model '{given.model}': {error}")
    print(f"server is listening on {server.listening_address}", flush=True)
    threading.Event().wait()


main()
