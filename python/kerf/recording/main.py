"""python -m kerf record -- COMMAND: runs it with KERF_RECORD, says what was recorded, and returns its exit code."""
import argparse
import os
import subprocess
import sys

from .recorder import said
from .settings import CALLS, Settings

EXAMPLES = """examples:
  kerf record -- python train.py
  kerf record -o run --values stats -- torchrun --nproc-per-node 2 train.py
  kerf record --values full:mm* -- python train.py --steps 10
  kerf show kerf-record
"""


def parser():
    made = argparse.ArgumentParser(prog="kerf record", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="Run a command and record what torch.compile does in it: the compiler's log with the "
                                   "graphs of all stages, guards and recompilations, and values of nodes in compiled and eager code.")
    made.add_argument("command", nargs="+", help="the command, after --")
    made.add_argument("-o", "--output", default="kerf-record", help="folder of the recording (default: %(default)s)")
    made.add_argument("--values", default="none", metavar="none|hash|stats|full[:PATTERN]",
                      help="of nodes whose names fit the pattern (default: %(default)s)")
    made.add_argument("--calls", type=int, default=CALLS, help="of each graph whose values are recorded (default: %(default)s)")
    made.add_argument("--quiet", action="store_true", help="do not say what was recorded")
    return made


def environment(settings):
    """Of the command: Python's start finds ours first, and KERF_RECORD says the rest."""
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start")
    found = dict(os.environ, **settings.variables())
    found["PYTHONPATH"] = os.pathsep.join([start] + ([found["PYTHONPATH"]] if found.get("PYTHONPATH") else []))
    return found


def main(arguments=None):
    options = parser().parse_args(arguments)
    try:
        settings = Settings(options.output, options.values, options.calls)
    except ValueError as problem:
        print("kerf: error: %s" % problem, file=sys.stderr)
        return 2
    try:
        code = subprocess.run(options.command, env=environment(settings)).returncode
    except OSError as problem:
        print("kerf: error: cannot start %s: %s" % (options.command[0], problem.strerror), file=sys.stderr)
        return 2
    if not options.quiet and said(settings.folder, sys.stderr) == 0:
        print("kerf record: nothing was compiled, so nothing was recorded", file=sys.stderr)
    return code if code >= 0 else 128 - code
