"""__torch_function__: types and modes that take calls over."""

import contextlib
import functools

from torch import _C, _absent

DisableTorchFunction = _C.DisableTorchFunction
DisableTorchFunctionSubclass = _C.DisableTorchFunctionSubclass


def has_torch_function(relevant_args):
    """Whether one of the arguments, or a mode, wants to take the call over."""
    return _C._has_torch_function(tuple(relevant_args))


def has_torch_function_unary(arg):
    """has_torch_function for one argument."""
    return _C._has_torch_function((arg,))


def has_torch_function_variadic(*args):
    """has_torch_function for the arguments."""
    return _C._has_torch_function(args)


def _get_overloaded_args(relevant_args, get_type_fn=None):
    """The arguments that override, subclasses before their bases, one of each type."""
    kind = get_type_fn or type
    seen, made = set(), []
    for arg in relevant_args:
        arg_type = kind(arg)
        method = getattr(arg_type, "__torch_function__", None)
        if arg_type in seen or method is None or method is _C._disabled_torch_function_impl:
            continue
        if getattr(method, "__func__", method) is _plain_torch_function():
            continue
        seen.add(arg_type)
        place = next((i for i, old in enumerate(made) if issubclass(arg_type, kind(old))), len(made))
        made.insert(place, arg)
    return made


def _plain_torch_function():
    import torch

    return torch.Tensor.__dict__["__torch_function__"].__func__


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask modes and arguments in their order; the first that does not give NotImplemented answers."""
    overloaded = _get_overloaded_args(relevant_args)
    types = tuple(type(a) for a in overloaded)
    if _C._len_torch_function_stack() > 0:
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for arg in overloaded:
        result = arg.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if not overloaded:
        with DisableTorchFunctionSubclass():
            return public_api(*args, **kwargs)
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: {[t for t in types]}"
    )


class TorchFunctionMode:
    """A context in which __torch_function__ of this object sees all calls."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, kind, value, trace):
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        """The old way to make a mode."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only passes calls on."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _C._pop_torch_function_stack()
    try:
        yield mode
    finally:
        _C._push_on_torch_function_stack(mode)


def _get_current_function_mode():
    count = _C._len_torch_function_stack()
    return _C._get_function_stack_at(count - 1) if count > 0 else None


def _get_current_function_mode_stack():
    return [_C._get_function_stack_at(i) for i in range(_C._len_torch_function_stack())]


def is_tensor_like(inp):
    """Whether an object is a tensor or overrides torch functions."""
    import torch

    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether a function is a method or the getter of a property of Tensor."""
    import torch

    if getattr(func, "__name__", "") == "__get__":
        return True
    return getattr(torch.Tensor, getattr(func, "__name__", ""), None) is func


def resolve_name(f):
    """The dotted name of a torch function."""
    import torch

    name = getattr(f, "__name__", None)
    for prefix, space in (("torch", torch), ("torch.Tensor", torch.Tensor),
                          ("torch.nn.functional", torch.nn.functional), ("torch.linalg", torch.linalg)):
        if name and getattr(space, name, None) is f:
            return f"{prefix}.{name}"
    return None


def wrap_torch_function(dispatcher):
    """Make a function of one's own overridable: dispatcher gives the relevant arguments."""

    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def get_default_nowrap_functions():
    """Functions whose results Tensor.__torch_function__ does not turn into the subclass."""
    import torch

    names = ("_base", "grad", "_grad")
    return {getattr(torch.Tensor, n).__get__ for n in names if hasattr(torch.Tensor, n)}


def enable_reentrant_dispatch():
    """A context that changes nothing here."""
    return contextlib.nullcontext()

__getattr__ = _absent.getter(__name__)

