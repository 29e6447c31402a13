"""map: a function for each element of the first dimension."""

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _operators


def map(f, xs, *args):
    """f(x, *args) for every x along dimension 0, stacked."""
    leaves, spec = tree_flatten(xs)
    if any(not isinstance(t, torch.Tensor) for t in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    count = leaves[0].shape[0]
    if any(t.shape[0] != count for t in leaves):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {[t.shape for t in leaves]}.")
    recorded = _operators.recording("map_impl")
    if recorded is not None:
        return _recorded_map(recorded, f, leaves, spec, args)
    rows, out_spec = [], None
    for i in range(count):
        flat, out_spec = tree_flatten(f(tree_unflatten([t[i] for t in leaves], spec), *args))
        rows.append(flat)
    return tree_unflatten([torch.stack(column) for column in zip(*rows)], out_spec)


def _recorded_map(recorded, f, leaves, spec, args):
    flat_args, args_spec = tree_flatten(args)

    def flatly(*values):
        own = tree_unflatten(list(values[:len(leaves)]), spec)
        return f(own, *tree_unflatten(list(values[len(leaves):]), args_spec))

    return recorded(flatly, leaves, flat_args)
