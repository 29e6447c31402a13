"""A program to look at: a file with build(), or any script that calls torch.compile."""
import ast
import importlib
import linecache
import os
import sys
import types


def is_program(source):
    """Whether the file says what to run by a function build(), which returns (function or module, arguments)."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == "build" for node in tree.body)


def apply_config(settings):
    """Settings by their full names; those that this PyTorch lacks are left out, and returned."""
    missing = []
    for name, value in settings.items():
        owner, _, attribute = name.rpartition(".")
        try:
            module = importlib.import_module(owner)
        except ImportError:
            module = None
            outer, _, part = owner.rpartition(".")
            if outer:
                try:
                    module = getattr(importlib.import_module(outer), part, None)
                except ImportError:
                    module = None
        if module is None or not hasattr(module, attribute):
            missing.append(name)
        else:
            setattr(module, attribute, value)
    return missing


class Program:
    """A file with build(), and with calls(), BACKWARD, KWARGS, CONFIG, FP64 and EAGER_RAISES where it has them."""

    def __init__(self, path, source=None, values=""):
        self.path, self.values = path, values
        if source is None:
            with open(path) as file:
                source = file.read()
        self.source = source
        self.space = {}
        self.drop = [], []  # names of its own settings, and of its own options of torch.compile, that are left out

    def load(self):
        """Runs the file, not as a main program. What asks for its source finds it."""
        sys.path.insert(0, os.path.dirname(self.path))
        module = types.ModuleType("kerf_program")
        module.__file__ = self.path
        lines = self.source.splitlines(keepends=True)
        linecache.cache[self.path] = (len(self.source), None, lines, self.path)
        sys.modules["kerf_program"] = module
        if self.values:
            from .capture import StoredValues

            module.KERF_VALUES = StoredValues(self.values)
        exec(compile(self.source, self.path, "exec"), module.__dict__)
        self.space = module.__dict__
        return apply_config({k: v for k, v in self.value("CONFIG", {}).items() if k not in self.drop[0]})

    def value(self, name, other):
        return self.space.get(name, other)

    def build(self):
        fn, args = self.space["build"]()
        if not isinstance(args, tuple) or not callable(fn):
            raise TypeError("build() returns a function and a tuple of arguments")
        return fn, args

    def calls(self):
        return self.space["calls"]() if "calls" in self.space else ()

    def compile(self, fn, backend):
        """What the program's user writes, with another backend. Modes and options are Inductor's."""
        import torch

        options = {k: v for k, v in self.value("KWARGS", {}).items() if k not in self.drop[1]}
        if backend != "inductor":
            options.pop("mode", None)
            options.pop("options", None)
        return torch.compile(fn, backend=backend, **options)
