"""What PyTorch's own tools make of programs with known faults: its minifier (after Dynamo, after AOTAutograd) and CompilerBisector.

    python tests/bench/minifier_beside.py FOLDER [--only 001,017] [--at-once 6] [--limit 120] [-o result.json]

FOLDER holds programs as check_bugs.py reads them, of which those that fail in expected.json are taken. For each, in processes of their
own, without caches of graphs:

minifier    TORCHDYNAMO_REPRO_LEVEL=4 (the one that looks for wrong values) runs the program as its user would, compiled alone; the
            launcher that it leaves is run, and then the repro.py that this leaves, which should fail as well
bisector    CompilerBisector.do_bisect() with "compiled equals eager, by assert_close()" as the question

Prints what each tool found. The judgement whether a name is right is left to the reader.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

RUN = '''
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec); spec.loader.exec_module(program)
import torch._dynamo.config, torch._inductor.config, torch._functorch.config
for name, value in getattr(program, "CONFIG", {}).items():
    owner, _, key = name.rpartition(".")
    owner = __import__("importlib").import_module(owner) if not owner.startswith("torch.backends") else eval(owner)
    setattr(owner, key, value)

def leaves(value):
    import torch.utils._pytree as pytree
    return [v for v in pytree.tree_leaves(value) if isinstance(v, torch.Tensor)]

def outcome(backend):
    """Outputs, gradients, inputs after the calls, or the type of the error."""
    torch.manual_seed(0); torch._dynamo.reset()
    function, args = program.build()
    call = function if backend is None else torch.compile(function, backend=backend, **getattr(program, "KWARGS", {}))
    found = []
    try:
        for given in [args, *(program.calls() if hasattr(program, "calls") else ())]:
            result = call(*given)
            outs = leaves(result)
            if getattr(program, "BACKWARD", False):
                sum(o.sum() for o in outs if o.requires_grad).backward()
                found += [a.grad for a in leaves(given) if a.grad is not None]
                if isinstance(function, torch.nn.Module):
                    found += [p.grad for p in function.parameters() if p.grad is not None]
            found += outs + leaves(given)
        return [f.detach().clone() if f.layout == torch.strided else f for f in found]
    except Exception as problem:
        return type(problem).__name__

def equal(one, two):
    if isinstance(one, str) or isinstance(two, str):
        return isinstance(one, str) == isinstance(two, str)
    if len(one) != len(two):
        return False
    try:
        for a, b in zip(one, two):
            torch.testing.assert_close(a, b, equal_nan=True)
    except AssertionError:
        return False
    return True
'''
MINIFY = RUN + '''
torch.manual_seed(0)
function, args = program.build()
call = torch.compile(function, **getattr(program, "KWARGS", {}))
for given in [args, *(program.calls() if hasattr(program, "calls") else ())]:
    result = call(*given)
    if getattr(program, "BACKWARD", False):
        sum(o.sum() for o in leaves(result) if o.requires_grad).backward()
'''
BISECT = RUN + '''
import json
from torch._inductor.compiler_bisector import CompilerBisector
expected = outcome(None)
def good():
    return equal(expected, outcome("inductor"))
if good():
    print("FOUND " + json.dumps({"fails": False}))
else:
    found = CompilerBisector.do_bisect(good)
    print("FOUND " + json.dumps({"fails": True, "backend": getattr(found, "backend", None), "subsystem": getattr(found, "subsystem", None),
                                 "number": getattr(found, "bisect_number", None), "info": str(getattr(found, "debug_info", None))[:200]}))
'''


def run(command, limit, folder, **environment):
    """(status or "time", text)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, errors="replace", cwd=folder,
                              env=dict(os.environ, **environment), start_new_session=True)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return "time", ""


def calls_in(repro):
    """Lines of the graph that call something."""
    with open(repro) as file:
        text = file.read()
    body = text.partition("def forward(")[2].partition("return ")[0]
    return len(re.findall(r"^\s+\w+(?:: [^=]+)? = .*\(", body, re.M))


def minified(program, after, limit, folder):
    debug, script = os.path.join(folder, "debug"), os.path.join(folder, "user.py")
    with open(script, "w") as file:
        file.write(MINIFY)
    started = time.monotonic()
    status, _ = run([sys.executable, script, program], limit, folder, TORCHDYNAMO_REPRO_AFTER=after, TORCHDYNAMO_REPRO_LEVEL="4",
                    TORCH_COMPILE_DEBUG_DIR=debug)
    launchers = glob.glob(os.path.join(debug, "**", "minifier_launcher.py"), recursive=True)
    found = {"launcher": bool(launchers), "status": status}
    if launchers:
        found["status"], _ = run([sys.executable, launchers[0]], limit, folder, TORCH_COMPILE_DEBUG_DIR=debug)
    repros = glob.glob(os.path.join(folder, "**", "repro.py"), recursive=True)
    if repros:
        status, text = run([sys.executable, repros[-1]], limit, folder, TORCH_COMPILE_DEBUG_DIR=debug)
        found.update(calls=calls_in(repros[-1]), fails=status not in (0, "time") or "AccuracyError" in text, error=text.strip().split("\n")[-1][:120])
    return dict(found, seconds=round(time.monotonic() - started, 1))


def bisected(program, limit, folder):
    script = os.path.join(folder, "bisect.py")
    with open(script, "w") as file:
        file.write(BISECT)
    started = time.monotonic()
    status, text = run([sys.executable, script, program], limit, folder, TORCH_COMPILE_DEBUG_DIR=os.path.join(folder, "debug"))
    told = re.search(r"^FOUND (.*)$", text, re.M)
    return dict(json.loads(told[1]) if told else {"status": status, "error": text.strip().split("\n")[-1][:120]},
                seconds=round(time.monotonic() - started, 1))


def warm(folder):
    """Header files and compiler checks are the same for all."""
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"), TRITON_CACHE_DIR=os.path.join(folder, "triton"),
                      TORCHINDUCTOR_FX_GRAPH_CACHE="0", TORCHINDUCTOR_AUTOGRAD_CACHE="0")
    run([sys.executable, "-c", "import torch; torch.compile(lambda x: x + 1)(torch.ones(9))"], 300, folder)


def measured(program, tool, limit):
    folder = tempfile.mkdtemp(prefix="beside-")
    try:
        return bisected(program, limit, folder) if tool == "bisector" else minified(program, tool, limit, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default="", help="numbers of programs, with commas between")
    parser.add_argument("--tools", nargs="+", default=["aot", "dynamo", "bisector"], choices=["aot", "dynamo", "bisector"])
    parser.add_argument("--at-once", type=int, default=6, metavar="N")
    parser.add_argument("--limit", type=int, default=120, metavar="S", help="seconds of each process")
    parser.add_argument("-o", "--output", metavar="FILE")
    told = parser.parse_args()
    only = [n for n in told.only.split(",") if n]
    with open(os.path.join(told.folder, "expected.json")) as file:
        failing = {name for name, row in json.load(file).items() if row.get("first_failing_backend")}
    programs = [p for p in sorted(glob.glob(os.path.join(told.folder, "[0-9]*_*.py")))
                if os.path.basename(p)[:3] in only or not only and os.path.basename(p)[:-3] in failing]
    caches = tempfile.mkdtemp(prefix="beside-caches-")
    warm(caches)
    results = {os.path.basename(p): {} for p in programs}
    with concurrent.futures.ThreadPoolExecutor(told.at_once) as pool:
        jobs = {pool.submit(measured, os.path.abspath(p), tool, told.limit): (os.path.basename(p), tool) for p in programs for tool in told.tools}
        for job in concurrent.futures.as_completed(jobs):
            name, tool = jobs[job]
            results[name][tool] = job.result()
            print(name, tool, json.dumps(job.result()), flush=True)
    shutil.rmtree(caches, ignore_errors=True)
    if told.output:
        with open(told.output, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
