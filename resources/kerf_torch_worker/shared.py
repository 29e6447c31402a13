# What all of the worker has in common: settings of this job, and small tools.
import contextlib
import os
import signal
import time

PRIVATE = {}  # environment variables that a candidate's own header must not change
STORAGES = {}  # by SHA-1: bytes, kept for all queries of the job
STATE = {"torch": "", "warm_seconds": 0.0, "notes": []}
MOST_TEXT = 20000  # characters of a message that are passed on


def note(text):
    """Something that did not work here and could be done without."""
    if len(STATE["notes"]) < 20:
        STATE["notes"].append(text[:300])


def timed(name, step):
    """A step that can be done without: each query then does it itself, or says why it cannot."""
    began = time.monotonic()
    try:
        step()
    except Exception as problem:
        note("%s: %s: %s" % (name, type(problem).__name__, problem))
    note("%s took %.1f s" % (name, time.monotonic() - began))


def remove(path):
    with contextlib.suppress(OSError):
        os.unlink(path)


def lead_group(pid):
    """Asked on both sides of a fork: whoever comes first, the process can be ended together with what it starts."""
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)


def become_group():
    lead_group(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_group(pid):
    """The process and what it started, compilers too."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
