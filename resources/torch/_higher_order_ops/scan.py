"""scan: a function along a dimension that hands something on."""

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _operators


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """The last carry, and the stacked outputs of combine_fn(carry, x) for every x along dim."""
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    leaves, spec = tree_flatten(xs)
    inits, init_spec = tree_flatten(init)
    if not inits:
        raise ValueError("scan() operator requires init leaves.")
    if not leaves:
        return init, []
    if any(not isinstance(t, torch.Tensor) for t in leaves):
        raise RuntimeError("All xs leaves must be a Tensor")
    recorded = _operators.recording("scan")
    if recorded is not None:
        return _recorded_scan(recorded, combine_fn, (inits, init_spec), (leaves, spec), dim, reverse)
    places = range(leaves[0].shape[dim])
    carry, rows, out_spec = init, [], None
    for i in reversed(places) if reverse else places:
        carry, y = combine_fn(carry, tree_unflatten([t.select(dim, i) for t in leaves], spec))
        flat, out_spec = tree_flatten(y)
        rows.append(flat)
    if reverse:
        rows.reverse()
    ys = tree_unflatten([torch.stack(column, 0) for column in zip(*rows)], out_spec)
    return carry, ys


def _recorded_scan(recorded, combine_fn, init, xs, dim, reverse):
    (inits, init_spec), (leaves, spec) = init, xs
    if dim % leaves[0].dim() != 0:
        leaves = [torch.movedim(t, dim, 0) for t in leaves]
    if reverse:
        leaves = [torch.flip(t, [0]) for t in leaves]
    specs = []

    def flatly(*values):
        carry, y = combine_fn(tree_unflatten(list(values[:len(inits)]), init_spec),
                              tree_unflatten(list(values[len(inits):len(inits) + len(leaves)]), spec))
        parts = tree_flatten(carry), tree_flatten(y)
        specs[:] = [made_spec for _, made_spec in parts]
        return [*parts[0][0], *parts[1][0]]

    made = recorded(flatly, inits, leaves)
    carries, ys = made[:len(inits)], made[len(inits):]
    if reverse:
        ys = [torch.flip(t, [0]) for t in ys]
    return tree_unflatten(list(carries), specs[0]), tree_unflatten(list(ys), specs[1])


scan_op = _operators.operators.scan
