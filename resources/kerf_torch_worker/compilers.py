# The compilers and loaders that Inductor calls, as queries that are ended need them.
import ctypes
import os
import re
import signal
import threading
import time

from .shared import remove


class LoadsInForks:
    """Stands in for the module `subprocess` in Inductor's file about vector instructions. Whether a test library can be
    loaded is asked there in a fresh Python that imports torch, seconds for each of a dozen questions. A fork of this
    process has torch already; whatever does not end there as expected is asked as PyTorch asks it."""

    PATTERN = re.compile(r"""LoadLibrary\((["'])(.+)\1\)""")
    SECONDS = 30.0  # a library is loaded in milliseconds

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def check_call(self, command, *args, **kwargs):
        found = self.PATTERN.search(str(command[-1])) if "-c" in command else None
        if found and self.loads(found[2]):
            return 0
        return self.original.check_call(command, *args, **kwargs)

    @classmethod
    def loads(cls, path):
        pid = os.fork()
        if pid == 0:
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                ctypes.CDLL(path)
                os._exit(0)
            finally:
                os._exit(1)
        deadline = time.monotonic() + cls.SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status == 0
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return False


MADE = []  # files that compilers made for this process; what its forks have made is theirs


class BuildsWhole:
    """Stands in for the module `subprocess` in Inductor's file that calls compilers. What they make gets its name when it
    is whole: a query that is ended takes its compilers with it, and half a library would fail all later queries about
    the same kernel ("file too short"), which is no failure of theirs."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def run(self, command, *args, **kwargs):
        target = self.target_of(command)
        if target is None:
            return self.original.run(command, *args, **kwargs)
        part = "%s.%d.%d.part" % (command[target], os.getpid(), threading.get_ident())
        hidden = list(command)
        hidden[target] = part
        folder = kwargs.get("cwd") or "."
        try:
            done = self.original.run(hidden, *args, **kwargs)
            if done.returncode == 0 and os.path.exists(os.path.join(folder, part)):
                os.replace(os.path.join(folder, part), os.path.join(folder, command[target]))
                MADE.append(os.path.join(folder, command[target]))
            return done
        except self.original.CalledProcessError as problem:
            problem.cmd = command
            raise
        finally:
            remove(os.path.join(folder, part))

    @staticmethod
    def target_of(command):
        """The place of the name in `-o NAME`."""
        if isinstance(command, (list, tuple)) and "-o" in command[:-1]:
            return command.index("-o") + 1
        return None
