"""One recording of one process."""
import atexit
import contextlib
import json
import os
import sys
import threading

from . import about, place
from .settings import CALLS, Settings


class Recording:
    """begin() after torch is imported, end() at the end. The folder is made when there is something to write."""

    def __init__(self, settings):
        self.settings = settings
        self.lock = threading.RLock()
        self.pid = os.getpid()
        self.place, self.rows, self.trace, self.compiler = None, None, None, None
        self.count = {"graphs": 0, "calls": 0, "nodes": 0}
        self.first = []  # nodes that differ, the first of each call
        self.notes = []

    # ---- where

    def folder(self):
        with self.lock:
            if self.place is None:
                self.place = place.choose(self.settings.folder)
                place.write_json(os.path.join(self.place, "about.json"), about.run())
            return self.place

    def part(self, name):
        path = os.path.join(self.folder(), name)
        os.makedirs(path, exist_ok=True)
        return path

    def is_mine(self):
        """Not in a child that was forked: two would write to one file."""
        return os.getpid() == self.pid

    # ---- when

    def begin(self):
        from .trace import Trace

        self.trace = Trace(self.folder)
        if not self.trace.begin():
            self.note("this PyTorch has no structured log of its compiler")
        if self.settings.kind != "none":
            from .calls import Compiler

            self.compiler = Compiler(self)
            self.compiler.install()
        atexit.register(self.end)

    def end(self):
        if not self.is_mine() or self.trace is None:
            return
        atexit.unregister(self.end)
        if self.compiler is not None:
            self.compiler.remove()
        self.trace.end()
        self.trace = None
        if self.rows is not None:
            self.rows.close()
        if self.place is not None:
            place.write_json(os.path.join(self.place, "summary.json"), self.summary())

    def summary(self):
        return dict(self.count, values=self.settings.kind, differing=self.first, notes=self.notes)

    # ---- what

    def note(self, text):
        with self.lock:
            if text not in self.notes and len(self.notes) < 50:
                self.notes.append(text)

    def row(self, row):
        with self.lock:
            if self.rows is None:
                self.rows = open(os.path.join(self.folder(), "values.jsonl"), "a")
            self.rows.write(json.dumps(row) + "\n")

    def call_ends(self, nodes, first):
        with self.lock:
            self.count["calls"] += 1
            self.count["nodes"] += nodes
            if first is not None and len(self.first) < 100:
                self.first.append(first)
            if self.rows is not None:
                self.rows.flush()


@contextlib.contextmanager
def record(folder="kerf-record", values="none", calls=CALLS):
    """`with kerf.record("run", values="stats"):` records what torch.compile does inside of it: the compiler's log with the
    graphs of all stages, and values of nodes, each in compiled and in eager code. Gives the Recording, whose `place` is the
    folder once there is something in it."""
    import torch  # noqa: F401

    recording = Recording(Settings(folder, values, calls))
    recording.begin()
    try:
        yield recording
    finally:
        recording.end()


def said(folder, out=sys.stdout):
    """Prints what a recording of one or several processes holds."""
    found = []
    for base, _, names in sorted(os.walk(folder)):
        if "about.json" in names and "summary.json" in names:
            with open(os.path.join(base, "summary.json")) as file:
                found.append((base, json.load(file)))
    for base, summary in found:
        print("%s: %d graphs, values of %d nodes in %d calls" % (base, summary["graphs"], summary["nodes"], summary["calls"]), file=out)
        for first in summary["differing"][:5]:
            print("  %(graph)s, call %(call)d: %(node)s is the first node that differs from eager mode%(detail)s" % first, file=out)
        for note in summary["notes"]:
            print("  note: " + note, file=out)
    return len(found)
