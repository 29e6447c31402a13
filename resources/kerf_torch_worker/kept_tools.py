# KeptTools: what compilers made while a worker warmed up, for the next job.
import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import sys

from .compilers import MADE
from .shared import remove

SUM = ".sha1"  # of a kept file, beside it
MOST_KEPT = 3  # sets of tools: one for each PyTorch, Python and compiler that was used lately


class KeptTools:
    """Libraries to try instructions with and precompiled headers are the same for every job with the same PyTorch, and
    take most of the time until a worker is warm. They are kept in a folder of the user's, and put where Inductor would
    make them. Its names for them are hashes of what goes in (of precompiled headers: of all text that they include), so
    one that no longer fits is not found, made anew and kept instead.

    Since these are machine code, what belongs to somebody else, or can be written by others, is not used."""

    def __init__(self, place, folder):
        self.place = place  # of all sets; empty: nothing is kept
        self.folder = folder  # of this job
        self.stored = set()  # by this job: several of the made files have the same source

    def set_place(self):
        """A folder per PyTorch, Python, compiler and processor, so that a set that is no longer used can go."""
        found = importlib.util.find_spec("torch")
        version = os.path.join(os.path.dirname(found.origin), "version.py")
        facts = [sys.executable, version, str(os.stat(version).st_mtime_ns if os.path.exists(version) else 0)]
        facts += [str(os.environ.get(name)) for name in ("CXX", "CXXFLAGS", "CPATH", "PATH")]
        with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
            facts += sorted({line for line in file if line.startswith(("flags", "model name"))})
        return os.path.join(self.place, hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32])

    @staticmethod
    def is_ours(path):
        about = os.lstat(path)
        return about.st_uid == os.getuid() and not about.st_mode & 0o022 and not os.path.islink(path)

    def fetch(self):
        if not self.place:
            return
        kept = self.set_place()
        if not os.path.isdir(kept) or not self.is_ours(self.place) or not self.is_ours(kept):
            return
        os.utime(kept)
        for folder, _, names in os.walk(kept):
            for name in names:
                path = os.path.join(folder, name)
                if self.is_ours(path) and not name.endswith((".part", SUM)):
                    self.copy(path, os.path.join(self.folder, os.path.relpath(path, kept)), self.sum_of(path))

    @staticmethod
    def sum_of(path):
        """The checksum that lies beside a kept file; none is no file's."""
        with contextlib.suppress(OSError), open(path + SUM) as file:
            return file.read()
        return "missing"

    @staticmethod
    def copy(path, to, expected=None):
        """Whole or not at all: another may be reading. Not what has another checksum than expected: a power cut can leave
        a name without its bytes, and half a test library would be taken for a processor that can do less. Returns the
        checksum."""
        os.makedirs(os.path.dirname(to), exist_ok=True)
        part = "%s.%d.part" % (to, os.getpid())
        try:
            with open(path, "rb") as source, open(part, "wb") as target:
                found = hashlib.sha1()
                while block := source.read(1 << 20):
                    found.update(block)
                    target.write(block)
            os.chmod(part, os.stat(path).st_mode & 0o755)
            if expected in (None, found.hexdigest()):
                os.replace(part, to)
            return found.hexdigest()
        finally:
            remove(part)

    def store(self):
        """What compilers made since fetch(), with the sources beside it, whose names lead to it."""
        if not self.place:
            return
        kept = self.set_place()
        os.makedirs(self.place, mode=0o700, exist_ok=True)
        if not self.is_ours(self.place):
            return
        if os.path.islink(kept):
            os.unlink(kept)
        elif os.path.isdir(kept) and not self.is_ours(kept):
            shutil.rmtree(kept)  # who knows what was put there
        os.makedirs(kept, mode=0o700, exist_ok=True)
        for made in map(os.path.abspath, list(MADE)):
            if made.startswith(self.folder + os.sep) and os.path.exists(made):
                self.store_with_sources(made, kept)
        self.forget_oldest()

    def store_with_sources(self, made, kept):
        beside, stem = os.path.dirname(made), os.path.basename(made).split(".")[0]
        for name in os.listdir(beside):
            path = os.path.join(kept, os.path.relpath(os.path.join(beside, name), self.folder))
            if name.split(".")[0] == stem and not name.endswith((".part", ".lock")) and path not in self.stored:
                remove(path + SUM)  # of what was there; without one a file is not used
                found = self.copy(os.path.join(beside, name), path)
                with open(path + SUM, "w") as file:
                    file.write(found)
                self.stored.add(path)

    def forget_oldest(self):
        """Sets only: what else lies there is not ours to remove."""
        names = [name for name in os.listdir(self.place) if re.fullmatch("[0-9a-f]{32}", name)]
        kept = [os.path.join(self.place, name) for name in names if not os.path.islink(os.path.join(self.place, name))]
        kept.sort(key=lambda path: os.stat(path).st_mtime, reverse=True)
        for path in kept[MOST_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)
