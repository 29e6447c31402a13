"""Settings that hold for a block."""

import functools
import sys


class _Patch:
    """Sets values, and puts the old ones back; also a decorator."""

    def __init__(self, module_name, changes):
        self.module_name, self.changes, self.before = module_name, changes, []

    def __enter__(self):
        module = sys.modules[self.module_name]
        for name in self.changes:
            if not hasattr(module, name):
                raise AttributeError(f"{self.module_name}.{name} does not exist")
        self.before.append({name: getattr(module, name) for name in self.changes})
        for name, value in self.changes.items():
            setattr(module, name, value)

    def __exit__(self, *args):
        module = sys.modules[self.module_name]
        for name, value in self.before.pop().items():
            setattr(module, name, value)

    def __call__(self, func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return wrapper


def patcher(module_name):
    """The function patch() of a module of settings."""

    def patch(arg1=None, arg2=None, **kwargs):
        """patch("name", value), patch({...}) or patch(name=value)."""
        if arg1 is None:
            changes = kwargs
        elif isinstance(arg1, str):
            changes = {arg1: arg2}
        else:
            changes = dict(arg1)
        return _Patch(module_name, changes)

    return patch
