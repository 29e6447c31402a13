# Processes of queries: forked for one, or staying for many (on a GPU).
import contextlib
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
import time

from .protocol import read_line, receive, send_line
from .queries import answer_to
from .shared import STORAGES, become_group, end_group, lead_group, remove
from .start import fix_config

SMALL_SHARE = 4  # a query about so much less text than another one that is worked at gives way to it: what is asked
YIELDING = 5  # beside it is asked ahead of its verdict. Not by much, since its time runs
GARBAGE_OF_QUERY = 100000  # objects until it is looked for: most queries end before that is worth while
QUERIES_PER_PROCESS = 200  # of a process that stays
GROWTH_PER_PROCESS = 4 << 30  # bytes by which it may grow


def silence(path):
    """Standard output and error into a file of this query: neither the protocol nor the job's limit hears of them."""
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)


def tail_of(path, size=2000):
    with contextlib.suppress(OSError):
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode("utf-8", "replace")
    return ""


class Task:
    """One query and the process that works on it."""

    def __init__(self, connection, query, folder, number):
        self.connection, self.query = connection, query
        self.path = os.path.join(folder, "candidate_%d.py" % number)
        self.log = os.path.join(folder, "candidate_%d.log" % number)
        query["path"] = self.path
        self.pid = 0
        self.answers = None  # the end of a pipe that the answer comes through
        self.text = b""
        self.deadline = 0.0
        self.started = 0.0

    def is_small_beside(self, other):
        return SMALL_SHARE * len(self.query["source"]) < len(other.query["source"])

    def fork(self, others):
        reading, writing = os.pipe()
        self.started = time.monotonic()
        self.deadline = self.started + self.query["timeout"]
        pid = os.fork()
        if pid == 0:
            become_group()
            os.close(reading)
            for file in others:
                with contextlib.suppress(OSError):
                    os.close(file)
            silence(self.log)
            if self.query.get("yields"):
                os.nice(YIELDING)
            faulthandler.register(signal.SIGUSR1)  # where it is, should it hang
            gc.set_threshold(GARBAGE_OF_QUERY)
            data = json.dumps(answer_to(self.query)).encode("utf-8", "replace")
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(data)
            os._exit(0)
        lead_group(pid)
        os.close(writing)
        os.set_blocking(reading, False)
        self.pid, self.answers = pid, reading

    def read(self):
        """Whether the pipe has ended."""
        while True:
            try:
                data = os.read(self.answers, 1 << 16)
            except BlockingIOError:
                return False
            if not data:
                return True
            self.text += data

    def finish(self, found):
        found.setdefault("seconds", time.monotonic() - self.started)
        send_line(self.connection, found)
        self.close()

    def close(self):
        for path in (self.path, self.log):
            remove(path)
        if self.answers is not None:
            os.close(self.answers)
        self.connection.close()


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


def private_bytes(pid):
    """Memory of a process, its share of what it has in common with others."""
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/%d/smaps_rollup" % pid) as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    return 0


class Resident:
    """A process that stays between queries, for graphs on a GPU. It is sent a query as its parent was."""

    def __init__(self, others):
        near, far = socket.socketpair()
        self.known = set(STORAGES)
        self.pid = os.fork()
        if self.pid == 0:
            become_group()
            near.close()
            for file in others:
                with contextlib.suppress(OSError):
                    os.close(file)
            self.serve(far)
        lead_group(self.pid)
        far.close()
        self.near = near
        self.queries = 0
        self.task = None
        self.grown = 0

    @staticmethod
    def serve(far):
        import torch

        settings = []
        for name in ("torch._inductor.config", "torch._dynamo.config", "torch._functorch.config"):
            with contextlib.suppress(Exception):
                module = sys.modules[name]
                settings.append((module, module.get_config_copy() if hasattr(module, "get_config_copy") else None))
        while True:
            query = receive(far, STORAGES)
            if query is None:
                os._exit(0)
            silence(query["log"])
            for module, values in settings:
                with contextlib.suppress(Exception):
                    module.load_config(values)
            fix_config()
            with contextlib.suppress(Exception):
                torch._dynamo.reset()
            send_line(far, answer_to(query))
            gc.collect()
            with contextlib.suppress(Exception):
                torch.cuda.empty_cache()

    def take(self, task):
        self.task, self.queries = task, self.queries + 1
        task.started = time.monotonic()
        task.deadline = task.started + task.query["timeout"]
        task.pid = self.pid
        missing = [name for name in task.query["storages"] if name not in self.known and name in STORAGES]
        head = dict(task.query, log=task.log, sent=[[name, len(STORAGES[name])] for name in missing])
        source = head.pop("source").encode("utf-8")
        head["source_bytes"] = len(source)
        self.known.update(missing)
        self.near.setblocking(True)
        with contextlib.suppress(OSError):
            self.near.sendall(json.dumps(head).encode() + b"\n" + source + b"".join(STORAGES[n] for n in missing))

    def answer(self):
        """None if it died."""
        try:
            line = read_line(self.near)
        except OSError:
            return None
        return json.loads(line) if line else None

    def is_spent(self):
        if self.queries == 1:
            self.grown = private_bytes(self.pid)
        return self.queries >= QUERIES_PER_PROCESS or private_bytes(self.pid) > self.grown + GROWTH_PER_PROCESS

    def end(self):
        end_group(self.pid)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        self.near.close()
