"""Makes the files beside it: requests that are made up, and what other tools' own functions make of them.

measure/src/rules must say the same numbers. Nothing of the tools is copied: they are installed by their names and
called. Each needs an environment of its own, as their requirements exclude each other:

    python3 regenerate.py requests                     > requests.json   # no package; the seed is below
    pip install vllm (0.32.0)          python3 regenerate.py vllm        > vllm.json
    pip install sglang==0.5.23         python3 regenerate.py sglang      > sglang.json
    pip install guidellm==0.8.1        python3 regenerate.py guidellm    > guidellm.json
    pip install aiperf==0.13.0         python3 regenerate.py aiperf      > aiperf.json
    pip install mlcommons-loadgen      python3 regenerate.py loadgen     > loadgen.json

MLPerf's LoadGen keeps time itself and takes no records, so it is run for two seconds on a system under test that sleeps;
what it traced of each query are the requests, what it logged are the numbers. It prints rates with six digits only.

Times are in nanoseconds from the start of the point: scheduled, connect (how long opening a connection took, or null),
sent, chunks (token-bearing events), finish (the event with the finish reason), end (of the stream).
"""

import json
import math
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

SLO_MS = {"ttft": 260.0, "tpot": 21.0, "e2e": 900.0}
PERCENTILES = [50, 95, 99]
NS = 1e9


def request(rng, at):
    """One that succeeds: its first token, then events of one token or, now and then, of several."""
    connect = rng.randrange(200_000, 900_000) if rng.random() < 0.2 else None
    sent = at + (connect or 0) + rng.randrange(5_000, 90_000)
    events = 1 if rng.random() < 0.06 else rng.randrange(2, 24)
    per_event = 1 if rng.random() < 0.7 else rng.randrange(2, 5)
    chunks = [sent + int(rng.lognormvariate(math.log(180e6), 0.5))]
    for _ in range(events - 1):
        chunks.append(chunks[-1] + int(rng.lognormvariate(math.log(20e6), 0.6)))
    # In the last token's own event, or in one that follows.
    finish = chunks[-1] + (0 if rng.random() < 0.5 else rng.randrange(100_000, 4_000_000))
    end = finish + rng.randrange(20_000, 3_000_000)
    n = (events - 1) * per_event + 1
    return dict(scheduled=at, connect=connect, sent=sent, chunks=chunks, finish=finish, end=end,
                outcome="ok", prompt=rng.randrange(8, 900), n=n, asked=n + rng.randrange(0, 6))


def failed(rng, at):
    """One that fails: refused, broken off, ended politely too early, or given up by the client."""
    made = request(rng, at)
    kept = {"rate_limited": 0, "connection_reset": 3, "truncated": 4, "in_band_error": 5, "empty_stream": 0, "cancelled": 2}
    outcome = rng.choice(list(kept))
    chunks = made["chunks"][:kept[outcome]]
    return dict(made, outcome=outcome, chunks=chunks, finish=None, n=None,
                end=(chunks or [made["sent"]])[-1] + rng.randrange(1_000_000, 9_000_000))


def point(seed, count, failing, uncounted):
    rng = random.Random(seed)
    at, requests = 0, []
    for _ in range(count):
        at += int(rng.expovariate(12.0) * NS)
        made = failed(rng, at) if rng.random() < failing else request(rng, at)
        if rng.random() < uncounted:
            made["n"] = None
        requests.append(made)
    return requests


def requests():
    return {"slo_ms": SLO_MS, "calm": point(11, 60, 0.0, 0.0), "rough": point(24, 131, 0.12, 0.0),
            "uncounted": point(31, 41, 0.05, 0.2)}


def started(it):
    """vLLM, SGLang and aiperf start their clocks before they ask for a connection."""
    return it["sent"] - (it["connect"] or 0)


def gaps(times):
    return [later - earlier for earlier, later in zip(times, times[1:])]


def ended(points):
    return max(it["end"] for it in points)


def vllm(points):
    """Any event with choices counts, so that of the finish reason does; a polite end is a success, and an error inside
    the stream is not seen."""
    import vllm
    from vllm.benchmarks.lib.endpoint_request_func import RequestFuncOutput
    from vllm.benchmarks.serve import calculate_metrics

    outputs = []
    for it in points:
        start, times = started(it), list(it["chunks"])
        if it["finish"] is not None and times and times[-1] < it["finish"]:
            times.append(it["finish"])
        if it["outcome"] not in ("ok", "truncated", "in_band_error"):
            outputs.append(RequestFuncOutput(success=False, start_time=start / NS))
            continue
        outputs.append(RequestFuncOutput(
            success=True, start_time=start / NS, ttft=(times[0] - start) / NS, latency=(times[-1] - start) / NS,
            itl=[gap / NS for gap in gaps(times)], prompt_len=it["prompt"], output_tokens=it["n"] or 0))
    goodput = {"ttft": SLO_MS["ttft"], "tpot": SLO_MS["tpot"], "e2el": SLO_MS["e2e"]}
    # Its clock runs from before the first gap of the schedule to the last answer.
    told, _ = calculate_metrics([], outputs, ended(points) / NS, None, PERCENTILES, goodput)
    latency = lambda of: [value for _, value in getattr(told, f"percentiles_{of}_ms")]
    return vllm.__version__ if hasattr(vllm, "__version__") else None, dict(
        completed=told.completed, failed=told.failed, requests_per_s=told.request_throughput,
        output_tokens_per_s=told.output_throughput, good_requests_per_s=told.request_goodput, attainment=None,
        ttft_ms=latency("ttft"), tpot_ms=latency("tpot"), itl_ms=latency("itl"), e2e_ms=latency("e2el"))


def sglang(points):
    """E2E ends with the stream; a length that nobody counted is the length asked for; a stream without a token is a
    success whose first token took no time."""
    import sglang
    from sglang.benchmark.goodput import calculate_goodput
    from sglang.benchmark.serving import RequestFuncOutput, calculate_metrics

    class Tokenizer:
        def encode(self, text, add_special_tokens=False):
            return []

    outputs = []
    for it in points:
        start = started(it)
        if it["outcome"] not in ("ok", "truncated", "empty_stream"):
            outputs.append(RequestFuncOutput(success=False, start_time=start / NS))
            continue
        first = it["chunks"][0] if it["chunks"] else start
        outputs.append(RequestFuncOutput(
            success=True, start_time=start / NS, ttft=(first - start) / NS, latency=(it["end"] - start) / NS,
            itl=[gap / NS for gap in gaps(it["chunks"])], prompt_len=it["prompt"], output_len=it["n"] or it["asked"]))
    # Its first request leaves at once: the gap before it is not in its duration.
    seconds = (ended(points) - points[0]["scheduled"]) / NS
    told, _ = calculate_metrics(None, outputs, seconds, Tokenizer(), "sglang-oai")
    slos = {"ttft": SLO_MS["ttft"], "tpot": SLO_MS["tpot"], "e2el": SLO_MS["e2e"]}
    good = calculate_goodput(outputs, slos, seconds)
    latency = lambda of: [getattr(told, f"{name}_{of}_ms") for name in ("median", "p95", "p99")]
    return sglang.__version__, dict(
        completed=told.completed, failed=len(points) - told.completed, requests_per_s=told.request_throughput,
        output_tokens_per_s=told.output_throughput, good_requests_per_s=good.request_goodput,
        attainment=good.slo_attainment, ttft_ms=latency("ttft"), tpot_ms=latency("tpot"), itl_ms=latency("itl"),
        e2e_ms=latency("e2e_latency"))


def guidellm(points):
    """The clock starts as the headers are written; time per output token has the first token in it."""
    from importlib.metadata import version
    from types import SimpleNamespace

    from guidellm.benchmark.schemas.metrics import GenerativeMetrics
    from guidellm.schemas import GenerativeRequestStats, RequestInfo, RequestTimings, UsageMetrics
    from guidellm.schemas.benchmark.goodput import GoodputSLO
    from guidellm.benchmark.schemas.accumulator import GenerativeRequestsAccumulator

    def stats(it):
        chunks = it["chunks"]
        first, last = (chunks[0] / NS, chunks[-1] / NS) if chunks else (None, None)
        timings = RequestTimings(
            targeted_start=it["scheduled"] / NS, request_start=it["sent"] / NS, first_token_iteration=first,
            first_output_token_iteration=first, last_token_iteration=last, token_iterations=len(chunks),
            request_end=it["end"] / NS, resolve_end=it["end"] / NS)
        return GenerativeRequestStats(
            request_id="r", response_id=None, request_args=None, output=None, info=RequestInfo(timings=timings),
            input_metrics=UsageMetrics(text_tokens=it["prompt"]), output_metrics=UsageMetrics(text_tokens=it["n"]))

    def kept(which):
        made = [stats(it) for it in points if which(it["outcome"])]
        holder = GenerativeRequestsAccumulator.model_construct(requests_stats=made)
        return holder

    success, given_up = ("ok", "truncated"), ("cancelled",)
    accumulator = SimpleNamespace(
        # Its scheduler's start, which is the start of the point, and the last request's end.
        timings=SimpleNamespace(finalized_measure_start=0.0, finalized_measure_end=ended(points) / NS),
        completed=kept(lambda it: it in success), incomplete=kept(lambda it: it in given_up),
        errored=kept(lambda it: it not in success + given_up),
        config=SimpleNamespace(
            confidence=None, strategy=SimpleNamespace(defines_arrival_schedule=True),
            slo=GoodputSLO(ttft_ms=SLO_MS["ttft"], tpot_ms=SLO_MS["tpot"], e2el_ms=SLO_MS["e2e"])))
    told = GenerativeMetrics.compile(accumulator)
    latency = lambda of, scale=1.0: [getattr(of.successful.percentiles, f"p{p}") * scale for p in PERCENTILES]
    return version("guidellm"), dict(
        completed=told.request_totals.successful, failed=told.request_totals.errored + told.request_totals.incomplete,
        requests_per_s=told.requests_per_second.successful.mean,
        output_tokens_per_s=told.output_tokens_per_second.successful.mean,
        good_requests_per_s=told.request_goodput.successful.mean if told.request_goodput else None,
        attainment=told.slo_attainment, ttft_ms=latency(told.time_to_first_token_ms),
        tpot_ms=latency(told.time_per_output_token_ms), itl_ms=latency(told.inter_token_latency_ms),
        e2e_ms=latency(told.request_latency, 1000.0))


def aiperf(points):
    """E2E ends with the last content; duration runs from the first request to the last content."""
    from importlib.metadata import version
    from types import SimpleNamespace

    import numpy
    from aiperf.metrics.metric_dicts import MetricRecordDict, MetricResultsDict, metric_result_from_array
    from aiperf.metrics.metric_registry import MetricRegistry

    tags = ["time_to_first_token", "request_latency", "output_sequence_length", "inter_token_latency",
            "inter_chunk_latency", "good_request_count", "min_request_timestamp", "max_response_timestamp"]
    metric = {tag: MetricRegistry.get_class(tag) for tag in tags}
    metric["good_request_count"].set_slos(
        {"time_to_first_token": SLO_MS["ttft"], "inter_token_latency": SLO_MS["tpot"],
         "request_latency": SLO_MS["e2e"]})
    told = {tag: [] for tag in tags}
    valid = 0
    for it in points:
        if it["outcome"] not in ("ok", "truncated"):
            continue
        valid += 1
        answers = [SimpleNamespace(perf_ns=at) for at in it["chunks"]]
        record = SimpleNamespace(
            request=SimpleNamespace(start_perf_ns=started(it)), start_perf_ns=started(it), timestamp_ns=started(it),
            content_responses=answers, responses=answers, has_error=False,
            token_counts=SimpleNamespace(output=it["n"], reasoning=None, first_content_chunk_tokens=None))
        seen = MetricRecordDict()
        for tag in tags:
            try:
                value = metric[tag]()._parse_record(record, seen)
            except Exception as error:
                if type(error).__name__ not in ("NoMetricValue", "ValueError"):
                    raise
                continue
            seen[tag] = value
            told[tag].append(value)
    results = MetricResultsDict()
    results["min_request_timestamp"] = min(told["min_request_timestamp"])
    results["max_response_timestamp"] = max(told["max_response_timestamp"])
    results["request_count"] = valid
    results["error_request_count"] = len(points) - valid
    results["good_request_count"] = sum(told["good_request_count"])
    results["total_osl"] = sum(told["output_sequence_length"])
    derived = ["benchmark_duration", "request_throughput", "output_token_throughput", "goodput",
               "good_request_fraction"]
    for tag in derived:
        results[tag] = MetricRegistry.get_class(tag)()._derive_value(results)

    def latency(tag):
        values = [one for value in told[tag] for one in (value if isinstance(value, list) else [value])]
        array = numpy.array(values, dtype=float)
        result = metric_result_from_array(tag, tag, "ns", array, float(array.sum()))
        return [getattr(result, f"p{p}") / 1e6 for p in PERCENTILES]

    return version("aiperf"), dict(
        completed=valid, failed=len(points) - valid, requests_per_s=results["request_throughput"],
        output_tokens_per_s=results["output_token_throughput"], good_requests_per_s=results["goodput"],
        attainment=results["good_request_fraction"], ttft_ms=latency("time_to_first_token"),
        tpot_ms=latency("inter_token_latency"), itl_ms=latency("inter_chunk_latency"),
        e2e_ms=latency("request_latency"))


def loadgen():
    """A server scenario on a system that sleeps: what LoadGen traced, and what it says of it."""
    import array

    import mlperf_loadgen as lg

    count = 140
    rng = random.Random(7)
    plan = [(0.004 + rng.expovariate(100.0), rng.randrange(2, 9), rng.uniform(0.001, 0.004)) for _ in range(count)]
    kept, place = [], [0]

    def answer(sample, first, tokens, gap):
        data = array.array("B", b"x")
        kept.append(data)
        at, _ = data.buffer_info()
        time.sleep(first)
        lg.FirstTokenComplete([lg.QuerySampleResponse(sample.id, at, 1)])
        time.sleep(gap * (tokens - 1))
        lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, at, 1, tokens)])

    def issue(samples):
        for sample in samples:
            threading.Thread(target=answer, args=(sample, *plan[place[0]])).start()
            place[0] += 1

    settings = lg.TestSettings()
    settings.scenario, settings.mode = lg.TestScenario.Server, lg.TestMode.PerformanceOnly
    settings.server_target_qps, settings.min_duration_ms = 70, 0
    settings.min_query_count = settings.max_query_count = count
    settings.use_token_latencies = True
    settings.ttft_latency = settings.tpot_latency = 10**9
    with tempfile.TemporaryDirectory() as folder:
        logs, out = lg.LogSettings(), lg.LogOutputSettings()
        out.outdir, out.copy_summary_to_stdout = folder, False
        logs.enable_trace, logs.log_output = True, out
        sut = lg.ConstructSUT(issue, lambda: None)
        qsl = lg.ConstructQSL(count, count, lambda _: None, lambda _: None)
        lg.StartTestWithLogSettings(sut, qsl, settings, logs, "")
        lg.DestroyQSL(qsl)
        lg.DestroySUT(sut)
        trace = Path(folder, "mlperf_log_trace.json").read_text()
        detail = Path(folder, "mlperf_log_detail.txt").read_text()
    ends, firsts = {}, {}
    for line in trace.splitlines():
        for name, into in (("Latency", ends), ("Token_Latency", firsts)):
            if line.startswith('{"name":"%s",' % name):
                event = json.loads(line.rstrip(","))
                microseconds, thousandths = line.split('"ts":')[1].split(",")[0].split(".")
                scheduled = int(microseconds) * 1000 + int(thousandths)
                delay, done = event["args"]["issue_delay"], event["args"]["issue_to_done"]
                into[scheduled] = (scheduled + delay, scheduled + delay + done)
    assert len(ends) == len(firsts) == count
    zero = min(ends)
    points = [
        dict(scheduled=at - zero, connect=None, sent=ends[at][0] - zero, chunks=[firsts[at][1] - zero, ends[at][1] - zero],
             finish=ends[at][1] - zero, end=ends[at][1] - zero, outcome="ok", prompt=1, n=tokens, asked=tokens)
        for at, (_, tokens, _) in zip(sorted(ends), plan)]
    said = {}
    for line in detail.splitlines():
        event = json.loads(line.split("MLLOG ", 1)[1]) if "MLLOG " in line else {}
        said[event.get("key")] = event.get("value")
    latency = lambda of: [said[of % f"{p}.00"] / 1e6 for p in PERCENTILES]
    told = dict(
        completed=said["result_query_count"], failed=0, requests_per_s=said["result_completed_samples_per_sec"],
        output_tokens_per_s=said["result_completed_tokens_per_second"], good_requests_per_s=None, attainment=None,
        ttft_ms=latency("result_first_token_%s_percentile_latency_ns"),
        tpot_ms=latency("result_time_per_output_token_%s_percentile_ns"), itl_ms=None,
        e2e_ms=latency("result_%s_percentile_latency_ns"))
    return said["loadgen_version"].split(" ")[0], points, told


def written(value):
    """One request a line, so that differences can be read."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace('{"scheduled"', '\n{"scheduled"') + "\n"


def main(what):
    if what == "requests":
        return requests()
    if what == "loadgen":
        version, points, told = loadgen()
        return {"tool": "mlperf", "version": version, "requests": points, "told": told}
    # Some of them talk on standard output.
    out, sys.stdout = sys.stdout, sys.stderr
    points = json.loads(Path(__file__).with_name("requests.json").read_text())
    told, version = {}, None
    for name in ("calm", "rough", "uncounted"):
        version, told[name] = globals()[what](points[name])
    sys.stdout = out
    return {"tool": what, "version": str(version), "told": told}


if __name__ == "__main__":
    sys.stdout.write(written(main(sys.argv[1])))
    sys.stdout.flush()
    os._exit(0)
