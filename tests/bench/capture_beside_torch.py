"""Times Kerf's capture beside what PyTorch recorded of its own.

    python3 tests/bench/capture_beside_torch.py TRACE_LOG [--kerf PATH_TO_KERF] [--program PROGRAM.py] [--json FILE]

TRACE_LOG is a dedicated_log_torch_trace_*.log of a GPT-2 with 12 layers: its first compilation_metrics say what Dynamo took
without its backend, for how many operators, how many guards it made, and what one check of them took. Kerf captures PROGRAM
(capture_gpt2.py beside this file) with the same figures. Exits with 1 where Kerf misses a target: 2 s for the capture, 20 us
per 100 guards.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TARGETS = {"capture_s": 2.0, "us_per_100_guards": 20.0}


def recorded(log):
    """PyTorch's figures of the first frame that was compiled."""
    for line in open(log, encoding="utf-8", errors="replace"):
        start = line.find('{"')
        if start < 0 or "compilation_metrics" not in line:
            continue
        metrics = json.loads(line[start:])["compilation_metrics"]
        if metrics.get("entire_frame_compile_time_s") is None:
            continue
        seconds = metrics["entire_frame_compile_time_s"] - metrics["backend_compile_time_s"]
        return figures(seconds, metrics["graph_op_count"], metrics["guard_count"], metrics["guard_latency_us"])
    sys.exit(f"{log}: no compilation is measured in it")


def figures(seconds, operators, guards, check_us):
    """The figures that both sides have."""
    return {"capture_s": seconds, "operators": operators, "us_per_operator": seconds * 1e6 / operators, "guards": guards,
            "check_us": check_us, "us_per_100_guards": check_us / guards * 100}


def captured(kerf, program):
    """Kerf's figures of the program's first frame, and what the program printed."""
    ran = subprocess.run([kerf, "capture", program, "--json", "--timeout", "600"], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"kerf capture ended with {ran.returncode}: {ran.stderr or ran.stdout}")
    told = json.loads(ran.stdout)
    frame, graph = told["captured"]["frames"][0], told["captured"]["graphs"][0]
    seconds = float(re.search(r"capture of .*: ([\d.]+) s", told["output"])[1])
    operators = sum(node[0].startswith("call_") for node in graph["nodes"])
    check = float(re.search(r"check of the model's guards: ([\d.]+) us", told["output"])[1])
    return figures(seconds, operators, len(frame["guards"]), check), told["output"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--kerf", default="build/bin/kerf")
    parser.add_argument("--program", default=str(HERE / "capture_gpt2.py"))
    parser.add_argument("--json")
    options = parser.parse_args()
    theirs = recorded(options.log)
    ours, output = captured(options.kerf, options.program)
    print(f"{'':20}{'PyTorch':>12}{'Kerf':>12}{'target':>12}")
    for name in theirs:
        print(f"{name:20}{theirs[name]:12.2f}{ours[name]:12.2f}{TARGETS.get(name, ''):>12}")
    print(output, end="")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"pytorch": theirs, "kerf": ours}, indent=1) + "\n", encoding="utf-8")
    return int(any(ours[name] > most for name, most in TARGETS.items()))


if __name__ == "__main__":
    sys.exit(main())
