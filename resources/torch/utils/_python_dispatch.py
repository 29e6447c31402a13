"""Modes that see every operator below autograd."""

from torch import _C

_stack = []


class TorchDispatchMode:
    """A context whose __torch_dispatch__ gets each operator's call and answers it."""

    def __init__(self, _dispatch_key=None):
        pass

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _stack.append(self)
        _C._push_dispatch_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _C._pop_dispatch_mode()
        _stack.pop()

    @classmethod
    def push(cls, *args, **kwargs):
        """An object of the class."""
        return cls(*args, **kwargs)


def _get_current_dispatch_mode():
    """The innermost mode, or None."""
    return _stack[-1] if _stack else None


def is_traceable_wrapper_subclass(t):
    """Whether a tensor wraps others in a way that can be traced: none does here."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
