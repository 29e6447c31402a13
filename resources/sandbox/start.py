"""Run once when the interpreter of a program starts: streams in memory, modules by a table instead of by a path."""

import sys

import _kerf

# Modules of the standard library that programs may import. All are loaded before the sandbox closes.
ALLOWED = """
__future__ _collections_abc _weakrefset abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs
collections collections.abc colorsys contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib dis enum
errno fnmatch fractions functools gc genericpath getopt hashlib heapq html importlib importlib.machinery importlib.util
importlib.abc inspect io itertools json keyword linecache locale logging marshal math numbers opcode operator os os.path
pathlib pickle pkgutil pprint queue random re reprlib secrets signal stat statistics string struct symtable sys
sysconfig tempfile textwrap threading time timeit token tokenize traceback types typing unicodedata unittest unittest.mock
uuid warnings weakref zlib _thread atexit encodings.ascii encodings.latin_1 encodings.utf_16 encodings.utf_8_sig
""".split()


REFUSED = """
_ctypes _posixsubprocess _socket ctypes fcntl mmap multiprocessing pty resource select selectors shutil socket ssl
subprocess
""".split()


# Functions of os that CPython announces to no audit hook, and that need the machine.
SILENT = """
access fstat getcwd getcwdb getgroups getloadavg getlogin getpriority lstat memfd_create mkfifo nice pipe pipe2 read readlink
sched_setaffinity sched_setscheduler setpgid setpriority setsid stat statvfs times umask wait wait3 wait4 waitid waitpid
write
""".split()

place = _kerf.place


class Stream:
    """A text stream whose text Kerf keeps, up to a limit."""

    encoding = "utf-8"
    errors = "strict"
    closed = False
    newlines = None
    line_buffering = True

    def __init__(self, name, is_error):
        self.name = name
        self._is_error = is_error

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return _kerf.write(text, self._is_error)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return True

    def seekable(self):
        return False

    def fileno(self):
        raise OSError("the sandbox has no files")


class NoInput:
    """Standard input of a program: nothing is ever there."""

    encoding = "utf-8"
    name = "<stdin>"
    closed = False

    def read(self, size=-1):
        return ""

    readline = read

    def readlines(self):
        return []

    def __iter__(self):
        return iter(())

    def isatty(self):
        return False

    def fileno(self):
        raise OSError("the sandbox has no files")


class Loader:
    """Runs the text of a module that Kerf carries, or makes one that is written in C++."""

    def __init__(self, source):
        self._source = source

    def create_module(self, spec):
        return None if self._source else _kerf.builtin(spec.name)

    def exec_module(self, module):
        if not self._source:
            return
        text, _, path = self._source
        exec(compile(text, f"<torch>/{path}", "exec"), module.__dict__)

    def get_source(self, name):
        return self._source[0] if self._source else None

    def is_package(self, name):
        return bool(self._source and self._source[1])


BUILTIN = {"torch._C"}
# Packages that come with torch, and where they are in it.
BESIDE_TORCH = {"functorch": "torch._functorch.public"}


class Finder:
    """The only way to a module that is not loaded yet."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        from importlib.machinery import ModuleSpec

        root, _, rest = name.partition(".")
        source = _kerf.source((BESIDE_TORCH.get(root, root) + "." + rest).rstrip("."))
        if source is not None:
            spec = ModuleSpec(name, Loader(source), origin=f"<torch>/{source[2]}", is_package=source[1])
            return spec
        if name in BUILTIN:
            return ModuleSpec(name, Loader(None), origin="kerf")
        if root == "torch" or root in BESIDE_TORCH:
            raise ModuleNotFoundError(f"No module named {name!r}: Kerf's torch does not have it{place()}", name=name)
        raise ModuleNotFoundError(
            f"the sandbox refuses the module {name!r}: programs have torch and parts of the standard library{place()}",
            name=name,
        )

    @staticmethod
    def invalidate_caches():
        pass


def load_allowed():
    for name in ALLOWED:
        __import__(name)


def close_path():
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [Finder]
    # What the allowed modules brought along for themselves stays theirs: a program asks the finder, which refuses it.
    for name in ("_kerf", *REFUSED):
        sys.modules.pop(name, None)


def refuse(what, name, error=PermissionError):
    """A function in the place of one that the sandbox refuses."""

    def refused(*args, **kwargs):
        raise error(f"the sandbox refuses {what}: {name}({', '.join(map(repr, args[:1]))[:120]}){place()}")

    refused.__name__ = refused.__qualname__ = name.rpartition(".")[2]
    return refused


def refuse_silent():
    """What the filter would refuse without a word says so, and where."""
    import _thread
    import os
    import posix
    import threading

    for name in SILENT:
        if hasattr(os, name):
            setattr(os, name, refuse("files and processes", "os." + name))
            setattr(posix, name, getattr(os, name))
    thread = refuse("starting a thread", "_thread.start_new_thread", RuntimeError)
    _thread.start_new_thread = _thread.start_new = threading._start_new_thread = thread


class Waiting:
    """What an event loop waits with: time passes, and nothing comes from outside."""

    def select(self, timeout):
        import time

        if timeout is None:
            raise RuntimeError("every task waits for another: nothing from outside wakes one in the sandbox")
        time.sleep(max(timeout, 0))
        return []

    def close(self):
        pass


def refuse_temporary_files():
    """tempfile looks for a folder that it may write in: with one named, what it writes there is refused by name."""
    import tempfile

    tempfile.tempdir = "/tmp"


def open_event_loops():
    """asyncio without sockets: tasks run, sleep and wait for each other."""
    from asyncio import base_events, events

    class EventLoop(base_events.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Waiting()

        def _process_events(self, event_list):
            pass

        def _write_to_self(self):
            pass

    class EventLoopPolicy(events.BaseDefaultEventLoopPolicy):
        _loop_factory = EventLoop

    events.set_event_loop_policy(EventLoopPolicy())


sys.stdin = NoInput()
sys.stdout = sys.__stdout__ = Stream("<stdout>", False)
sys.stderr = sys.__stderr__ = Stream("<stderr>", True)
load_allowed()
import linecache

linecache.checkcache = lambda filename=None: None
refuse_silent()
refuse_temporary_files()
open_event_loops()
close_path()
sys.executable = ""
sys.argv = ["program"]
