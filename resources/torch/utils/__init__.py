"""torch.utils."""

import copy as _copy

from . import hooks  # noqa: F401
from ._contextlib import context_decorator  # noqa: F401


def swap_tensors(t1, t2):
    """Exchange the values of two tensors."""
    first, second = t1.data, t2.data
    t1.data, t2.data = second, first
    t1.__dict__, t2.__dict__ = dict(t2.__dict__), dict(t1.__dict__)


def set_module(obj, mod):
    """Say in which module an object lives."""
    obj.__module__ = mod


def deterministic_copy(x):
    """A deep copy."""
    return _copy.deepcopy(x)


def __getattr__(name):
    """Parts that need all of torch are imported when they are used."""
    import importlib

    if name in ("_pytree", "checkpoint", "data", "benchmark", "_python_dispatch"):
        return importlib.import_module("torch.utils." + name)
    from torch._absent import message

    raise AttributeError(message("torch.utils", name))
