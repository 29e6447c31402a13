"""Times stock PyTorch eager and Kerf's interpreter on the same repro files, on one machine, side by side.

    python3 tests/bench/eager_compare.py FOLDER_OR_FILE... [--kerf PATH_TO_KERF] [--threads N] [--json FILE]

Every repro.py (as PyTorch's save_graph_repro writes them) is loaded as a module; its `Repro` class runs eagerly on the
inputs that its own `load_args` reads. `fp64` is the same graph after PyTorch's cast_to_fp64. Prints milliseconds per graph
and the geometric mean of Kerf's time over eager's.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import torch
from torch._dynamo.debug_utils import InputReader
from torch._dynamo.utils import clone_inputs
from torch.fx.experimental.proxy_tensor import make_fx

try:
    from torch._dynamo.debug_utils import cast_to_fp64
except ImportError:  # older releases keep it elsewhere
    from torch._dynamo.utils import cast_to_fp64  # type: ignore[no-redef]


def repro_files(paths):
    for given in paths:
        path = pathlib.Path(given).resolve()
        if path.is_dir():
            for file in sorted(path.rglob("*.py")):
                yield file, str(file.relative_to(path))
        else:
            yield path, given


def load(path, device="cpu"):
    """The repro's model and its inputs on a device, whatever it was captured on."""
    spec = importlib.util.spec_from_file_location(path.stem + "_repro", path)
    module = importlib.util.module_from_spec(spec)
    before = os.getcwd()
    placed = "device(type='cpu')" if device == "cpu" else "device(type='cuda', index=0)"
    os.chdir(path.parent)
    try:
        source = re.sub(r"device\(type\s*=\s*'(cuda|cpu)'(, index\s*=\s*\d+)?\)", placed, path.read_text())
        source = re.sub(r"'cuda(:\d+)?'", "'cpu'", source) if device == "cpu" else source
        # Only the model and its inputs are wanted, not the repro's own main part.
        exec(compile(source.replace('if __name__ == "__main__":', "if False:").replace("if __name__ == '__main__':", "if False:"),
                     str(path), "exec"), module.__dict__)
        reader = InputReader(save_dir=str(path.parent))
        module.load_args(reader)
        args = [a.to(device) if isinstance(a, torch.Tensor) else a for a in reader.args]
        return module.mod if hasattr(module, "mod") else module.Repro(), args
    finally:
        os.chdir(before)


def median_ms(model, args, seconds):
    def once():
        start = time.perf_counter()
        with torch.no_grad():
            model(*args)
        return (time.perf_counter() - start) * 1e3

    first = once()
    once()
    runs = max(3, min(200, int(seconds * 1e3 / max(first, 0.01))))
    return statistics.median(once() for _ in range(runs))


def eager_times(files, seconds):
    rows = {}
    for path, name in files:
        for precision in ("native", "f64"):
            try:
                model, args = load(path)
                model.eval()
                args = clone_inputs(args)
                if precision == "f64":
                    model, args = cast_to_fp64(make_fx(model, tracing_mode="real")(*args), args)
                rows[name, precision] = median_ms(model, args, seconds)
            except Exception as error:  # a graph that this build cannot run is reported, not fatal
                print(f"eager {name} {precision}: {type(error).__name__}: {str(error)[:160]}", file=sys.stderr)
    return rows


def kerf_times(program, paths):
    command = [program, "bench", "--json"]
    for path in paths:
        command += ["--graphs", path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"kerf failed: {result.stdout[-500:]}{result.stderr[-500:]}")
    rows = {}
    for row in json.loads(result.stdout)["graphs"]:
        if "ms" in row:
            rows[row["graph"], row["precision"]] = row["ms"]
        else:
            print(f"kerf {row['graph']} {row['precision']}: {row['skipped'][:160]}", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--kerf", default="build/bin/kerf")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.5, help="spent on each graph and precision by eager")
    parser.add_argument("--json", help="write the rows here too")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
        os.environ["KERF_NUM_THREADS"] = str(options.threads)
    files = list(repro_files(options.paths))
    eager = eager_times(files, options.seconds)
    kerf = kerf_times(options.kerf, options.paths)
    ratios, rows = [], []
    print(f"{'graph':<52} {'type':<8} {'eager ms':>10} {'kerf ms':>10} {'ratio':>7}")
    for key in sorted(set(eager) & set(kerf)):
        ratio = kerf[key] / eager[key]
        ratios.append(ratio)
        rows.append({"graph": key[0], "precision": key[1], "eager_ms": eager[key], "kerf_ms": kerf[key]})
        print(f"{key[0]:<52} {key[1]:<8} {eager[key]:>10.3f} {kerf[key]:>10.3f} {ratio:>7.2f}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean over {len(ratios)}: {mean:.3f} with {torch.get_num_threads()} threads, PyTorch {torch.__version__}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
