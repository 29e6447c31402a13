"""Modes that see every operator below autograd."""

import contextlib

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


@contextlib.contextmanager
def _disable_current_modes():
    """No mode sees what runs in the block."""
    before, off = list(_stack), _modes_off()
    _stack.clear()
    try:
        yield before
    finally:
        _stack[:] = before
        for mode in reversed(off):
            _C._push_dispatch_mode(mode)


def _modes_off(down_to=None):
    """Takes modes away, the innermost first, to one of them or to the last; a mode that answers a call is away already."""
    off = []
    while _C._count_dispatch_modes() > 0 and (not off or off[-1] is not down_to):
        off.append(_C._pop_dispatch_mode())
    return off


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    before = list(_stack)
    mode = _C._pop_dispatch_mode()
    _stack.remove(mode)
    try:
        yield mode
    finally:
        _stack[:] = before
        _C._push_dispatch_mode(mode)


def _get_current_dispatch_mode_stack():
    """The modes that are on, the innermost last."""
    return list(_stack)


def return_and_correct_aliasing(func, args, kwargs, out):
    """What an operator on a wrapper gives: where its schema says that it is an argument that was written into, that
    argument."""
    schema = func._schema
    written = next((k for k, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write), None)
    returns = schema.returns[0].alias_info if schema.returns else None
    if written is None or returns is None or not returns.is_write:
        return out
    name = schema.arguments[written].name
    return kwargs[name] if name in (kwargs or {}) else args[written]


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """A wrapper of the same kind around what callback(name, tensor) makes of its tensors."""
    names, context = t.__tensor_flatten__()
    made = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(made, context, t.size() if outer_size is None else outer_size,
                                        t.stride() if outer_stride is None else outer_stride)


def _get_current_dispatch_mode():
    """The innermost mode, or None."""
    return _stack[-1] if _stack else None


def is_traceable_wrapper_subclass(t):
    """Whether a tensor wraps others, and says which."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
