"""map: a function for each element of the first dimension."""

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


def map(f, xs, *args):
    """f(x, *args) for every x along dimension 0, stacked."""
    leaves, spec = tree_flatten(xs)
    if any(not isinstance(t, torch.Tensor) for t in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    count = leaves[0].shape[0]
    if any(t.shape[0] != count for t in leaves):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {[t.shape for t in leaves]}.")
    rows, out_spec = [], None
    for i in range(count):
        flat, out_spec = tree_flatten(f(tree_unflatten([t[i] for t in leaves], spec), *args))
        rows.append(flat)
    return tree_unflatten([torch.stack(column) for column in zip(*rows)], out_spec)
