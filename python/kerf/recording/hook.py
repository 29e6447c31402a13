"""Starts to record as soon as somebody has imported torch: of a process whose environment has KERF_RECORD."""
import importlib.abc
import importlib.machinery
import sys


class AfterImport(importlib.abc.Loader):
    """The loader of torch, and afterwards what is to be done."""

    def __init__(self, loader, action):
        self.loader, self.action = loader, action

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.action()


class Finder(importlib.abc.MetaPathFinder):
    """Finds one module as all others are found, once."""

    def __init__(self, name, action):
        self.name, self.action = name, action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = AfterImport(spec.loader, self.action)
        return spec


_begun = []


def begin():
    """Records this process, from the import of torch to its end. What goes wrong is said and ends nothing."""
    if _begun:
        return
    _begun.append(True)
    attempt(prepare)


def attempt(action):
    try:
        action()
    except Exception as problem:
        print("kerf record: %s: %s" % (type(problem).__name__, problem), file=sys.stderr)


def prepare():
    from .recorder import Recording
    from .settings import from_environment

    settings = from_environment()
    if settings is None:
        return
    recording = Recording(settings)
    if "torch" in sys.modules:
        recording.begin()
    else:
        sys.meta_path.insert(0, Finder("torch", lambda: attempt(recording.begin)))
