"""Settings that hold for a block."""

import functools
import sys


def _owner(module, name):
    """Where a setting such as "triton.cudagraphs" is, and its last name."""
    owner = module
    *path, leaf = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    if not hasattr(owner, leaf):
        raise AttributeError(f"{module.__name__}.{name} does not exist")
    return owner, leaf


class _Patch:
    """Sets values, and puts the old ones back; also a decorator."""

    def __init__(self, module_name, changes):
        self.module_name, self.changes, self.before = module_name, changes, []

    def __enter__(self):
        module = sys.modules[self.module_name]
        places = [(*_owner(module, name), value) for name, value in self.changes.items()]
        self.before.append([(owner, leaf, getattr(owner, leaf)) for owner, leaf, _ in places])
        for owner, leaf, value in places:
            setattr(owner, leaf, value)

    def __exit__(self, *args):
        for owner, leaf, value in reversed(self.before.pop()):
            setattr(owner, leaf, value)

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
