"""python -m kerf check PROGRAM: exit code 0 no difference, 1 found, 2 wrong call, 3 cannot be tested here."""
import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile

from .program import is_program
from .progress import Progress, seconds_of

NONE, FOUND, USAGE, ENVIRONMENT = 0, 1, 2, 3
EXAMPLES = """examples:
  kerf check train.py
  kerf check model.py --time 5m -o report -- --batch 8
  kerf check program.py --json
"""


def parser():
    made = argparse.ArgumentParser(prog="kerf check", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="Run a program under this PyTorch, eager and compiled, and say what differs, from "
                                   "which level on, by which part of the compiler, in the fewest calls. The program is run many times.")
    made.add_argument("script", help="a script that calls torch.compile, or a file with build()")
    made.add_argument("args", nargs="*", help="arguments of the script, after --")
    made.add_argument("-o", "--output", default="", help="folder for report.html, issue.md, repro.py (default: NAME-check)")
    made.add_argument("--time", default="10m", help="most time for all of it: 90s, 10m, 1h (default: %(default)s)")
    made.add_argument("--jobs", type=int, default=0, help="processes at the same time (default: one a core, less two)")
    made.add_argument("--timeout", default="120s", help="time after which one run counts as a hang (default: %(default)s)")
    made.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="cuda: the program uses a GPU")
    made.add_argument("--fresh", action="store_true", help="do not use what an earlier check of the same folder found")
    made.add_argument("--json", action="store_true", help="print the report as JSON")
    made.add_argument("--quiet", action="store_true", help="no lines about progress")
    return made


def cores():
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_jobs(on_gpu):
    """One a core, less two; fewer where all of them share the memory of a GPU, and where 2 GB a process are not there."""
    jobs = max(1, min(14, cores() - 2 if cores() > 4 else cores()))
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/meminfo") as file:
            about = dict(line.split(":") for line in file)
        jobs = max(1, min(jobs, int(about["MemAvailable"].split()[0]) >> 21))
    return min(jobs, 5) if on_gpu else jobs


CODES = {USAGE: "bad_usage", ENVIRONMENT: "environment"}


def fail(code, text, as_json=False):
    """Says what is wrong as all commands of kerf do."""
    print("kerf: error: " + text, file=sys.stderr)
    if as_json:
        print(json.dumps({"error": {"code": CODES[code], "message": text, "file": "", "line": 0, "node": ""}}))
    return code


def stop(number, frame):
    raise KeyboardInterrupt


def is_on_gpu(options, source):
    return options.device == "cuda" or options.device == "auto" and "cuda" in source


def main(arguments=None):
    options = parser().parse_args(arguments)
    try:
        with open(options.script) as file:
            source = file.read()
    except OSError as problem:
        return fail(USAGE, str(problem), options.json)
    except UnicodeDecodeError:
        return fail(USAGE, "%s is no Python text" % options.script, options.json)
    try:
        compile(source, options.script, "exec")
        progress = Progress(seconds_of(options.time), options.quiet)
        limit = seconds_of(options.timeout)
    except (SyntaxError, ValueError) as problem:
        return fail(USAGE, str(problem), options.json)
    folder = options.output or os.path.splitext(os.path.basename(options.script))[0] + "-check"
    if options.fresh:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, "journal.jsonl"))
    signal.signal(signal.SIGTERM, stop)
    temporary = tempfile.mkdtemp(prefix="kerf_check_")
    try:
        return checked(options, source, folder, temporary, progress, limit)
    except KeyboardInterrupt:
        return fail(ENVIRONMENT, "stopped; the same command goes on from here", options.json)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def checked(options, source, folder, temporary, progress, limit):
    from .report import written
    from .session import Session
    from .start import Torch

    on_gpu = is_on_gpu(options, source)
    jobs = options.jobs or default_jobs(on_gpu)
    torch = Torch(temporary, jobs, on_gpu)
    progress.say("importing torch")
    try:
        versions = torch.open()
    except ImportError as problem:
        return fail(ENVIRONMENT, "%s cannot import torch: %s" % (sys.executable, problem), options.json)
    if is_program(source):
        session = Session(os.path.abspath(options.script), folder, progress, torch, jobs, limit)
    else:
        from .script import ScriptSession

        session = ScriptSession(os.path.abspath(options.script), folder, progress, torch, jobs, limit, options.args)
    report = session.run()
    report["versions"] = versions
    written(report, folder)
    if options.json:
        print(json.dumps(report, default=str))
    else:
        from .report import summary

        print(summary(report, folder))
    return {"found": FOUND, "no difference": NONE}.get(report["status"], ENVIRONMENT)


if __name__ == "__main__":
    sys.exit(main())
