"""Kerf for Python: finds where torch.compile goes wrong, and the fewest calls that show it.

    python -m kerf check program.py      what differs, from which level on, by which part of the compiler
    kerf.check("program.py")             the same as a dict
    kerf.check(fn, *args)                the same of a function
    kerf.minify(fn, *args)               the shortest program that shows it
    kerf.compare(fn, *args)              one function under all backends, in this process
    python -m kerf record -- COMMAND     what the compiler does in a real run, and values of nodes
    with kerf.record("folder"):          the same inside of a program
    kerf.open("trace.log")               captures and graphs as objects, which notebooks draw
    kerf.studio("trace.log")             the window
    torch.compile(fn, backend="kerf")    graphs compiled by Kerf, where the wheel is installed
"""
from .api import check, compare, minify
from .graphs import Capture, Graph, KerfError, open, studio
from .recording import record

__all__ = ["Capture", "Graph", "KerfError", "check", "compare", "minify", "open", "record", "studio"]
__version__ = "0.1.0"
