"""Times stock PyTorch, eager and compiled (`compile_fx_inner`), and Kerf's generated code on the same repro files, on one
machine, side by side.

    python3 tests/bench/compile_compare.py FILE_OR_FOLDER... [--device cpu|cuda] [--kerf PATH] [--seconds S] [--json FILE]

Every graph has a process of its own, so that one that crashes or does not end is a row without numbers. All of them load
and compile at once; then they are measured one after the other, and Kerf beside each. Inputs are those that the repro
reads, or what PyTorch makes up where there are none. All times are of the fastest run, milliseconds; on a GPU of runs in
a row between two synchronisations, whose inputs are there already. `first` is PyTorch's first call, with nothing in its
caches if TORCHINDUCTOR_CACHE_DIR is fresh, while the others compile.
"""

import argparse
import json
import math
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def fastest_ms(call, device, seconds):
    import torch

    def once(count):
        start = time.perf_counter()
        for _ in range(count):
            call()
        if device == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3 / count

    once(3)
    at_once = max(1, min(20, int(20 / max(once(1), 0.01)))) if device == "cuda" else 1
    best, end, runs = 1e300, time.perf_counter() + seconds, 0
    while runs < 3 or (time.perf_counter() < end and runs < 300):
        best, runs = min(best, once(at_once)), runs + 1
    return best


def measure_torch(path, device, seconds):
    """Says READY when compiled, waits for a line, then gives one of JSON: `eager`, `compiled`, `first`, in milliseconds."""
    import torch
    from torch._dynamo.utils import clone_inputs
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx

    from eager_compare import load

    model, args = load(path, device)
    model.eval()
    row = {}
    with torch.no_grad():
        traced = make_fx(model, tracing_mode="real")(*clone_inputs(args))
        start = time.perf_counter()
        compiled = compile_fx_inner(traced, args)
        run = (lambda: compiled(list(args)))
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        row["first"] = (time.perf_counter() - start) * 1e3
        print("READY", flush=True)
        if not sys.stdin.readline():
            return
        row["compiled"] = fastest_ms(run, device, seconds)
        row["eager"] = fastest_ms(lambda: model(*args), device, seconds)
    print("ROW " + json.dumps(row), flush=True)


class TorchProcess:
    """One graph in a process of its own."""

    def __init__(self, path, options):
        command = [sys.executable, __file__, str(path), "--one", "--device", options.device, "--seconds", str(options.seconds)]
        self.errors = tempfile.TemporaryFile("w+")
        # unbuffered, so that select() sees every line that was not read yet
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0)
        self.end = time.monotonic() + options.timeout

    def line(self, begin):
        """The rest of its next line that begins so; None where it ended or its time is over."""
        while select.select([self.process.stdout], [], [], max(0, self.end - time.monotonic()))[0]:
            text = self.process.stdout.readline().decode(errors="replace")
            if text.startswith(begin):
                return text[len(begin):]
            if not text:
                return None
        self.process.kill()
        return None

    def ready(self):
        return self.line("READY") is not None

    def row(self, seconds):
        self.end = time.monotonic() + 60 + 10 * seconds
        try:
            self.process.stdin.write(b"\n")
            text = self.line("ROW ")
        except BrokenPipeError:
            text = None
        self.process.kill()
        return json.loads(text) if text else self.failure()

    def failure(self):
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        return {"torch_failed": (self.errors.read().strip().splitlines() or [f"exit {self.process.returncode}"])[-1][:160]}


def kerf_row(path, options):
    backend = "cuda" if options.device == "cuda" else "llvm"
    command = [options.kerf, "bench", "--json", "--compiled", "--backend", backend, "--repeats", "20", "--graphs", str(path)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.timeout)
        row = json.loads(result.stdout)["compiled"][0]
    except (subprocess.TimeoutExpired, ValueError, KeyError, IndexError):
        return {"kerf_failed": "no answer"}
    if "skipped" in row:
        return {"kerf_failed": row["skipped"][:160]}
    return {"kerf": row["compiled_ms"], "kerf_compile": row["compile_ms"], "interpreter": row["interpreted_ms"]}


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def number(value):
    return f"{value:10.3f}" if value is not None else f"{'-':>10}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--kerf", default="build/bin/kerf")
    parser.add_argument("--seconds", type=float, default=1.0, help="spent on each graph and side")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one graph and side")
    parser.add_argument("--json", help="write the rows here too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return measure_torch(pathlib.Path(options.paths[0]), options.device, options.seconds)
    from eager_compare import repro_files

    files = list(repro_files(options.paths))
    processes = [TorchProcess(path, options) for path, _ in files]
    ready = [process.ready() for process in processes]
    rows = []
    print(f"{'graph':<48} {'eager':>10} {'compiled':>10} {'kerf':>10} {'/ compiled':>10} {'/ eager':>8} {'first':>10} "
          f"{'kerf comp.':>10}", flush=True)
    for (path, name), process, compiled in zip(files, processes, ready):
        measured = process.row(options.seconds) if compiled else process.failure()
        row = {"graph": name, **measured, **kerf_row(path, options)}
        rows.append(row)
        both = "kerf" in row and "compiled" in row
        print(f"{name[-48:]:<48} {number(row.get('eager'))} {number(row.get('compiled'))} {number(row.get('kerf'))} "
              f"{row['kerf'] / row['compiled'] if both else float('nan'):>10.2f} "
              f"{row['kerf'] / row['eager'] if both else float('nan'):>8.2f} {number(row.get('first'))} "
              f"{number(row.get('kerf_compile'))} {row.get('torch_failed', '')} {row.get('kerf_failed', '')}", flush=True)
    known = [r for r in rows if "kerf" in r and "compiled" in r]
    if known:
        print(f"geometric mean of {len(known)}: {mean([r['kerf'] / r['compiled'] for r in known]):.3f} of torch.compile's "
              f"time, {mean([r['kerf'] / r['eager'] for r in known]):.3f} of eager's; first call / Kerf's compilation: at "
              f"least {min(r['first'] / r['kerf_compile'] for r in known):.1f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
