"""What the functions of torch.nn.functional share."""

import functools
from itertools import repeat

import torch
from torch.overrides import handle_torch_function, has_torch_function


def tuple_of(n, name):
    """A function that repeats a number n times and leaves sequences as they are."""

    def parse(x):
        return tuple(x) if hasattr(x, "__iter__") else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


single, pair, triple = tuple_of(1, "_single"), tuple_of(2, "_pair"), tuple_of(3, "_triple")


def overridable(fn):
    """Let tensors with __torch_function__ take the call over."""

    @functools.wraps(fn)
    def call(*args, **kwargs):
        if has_torch_function(args) or (kwargs and has_torch_function(tuple(kwargs.values()))):
            relevant = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor) or hasattr(a, "__torch_function__")]
            return handle_torch_function(call, relevant, *args, **kwargs)
        return fn(*args, **kwargs)

    return call


def list_with_default(sizes, defaults):
    """Sizes, with None replaced by the last of the defaults."""
    if isinstance(sizes, (int, torch.SymInt)):
        return sizes
    if len(defaults) <= len(sizes):
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    return [v if v is not None else d for v, d in zip(sizes, defaults[-len(sizes):])]


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """One function of two: a flag among the arguments says which."""

    def fn(*args, **kwargs):
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return if_true(*args, **kwargs) if flag else if_false(*args, **kwargs)

    fn.__name__ = fn.__qualname__ = func_name
    fn.__doc__ = if_true.__doc__
    fn.__module__ = module_name
    return fn
