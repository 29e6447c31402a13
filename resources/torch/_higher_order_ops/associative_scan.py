"""associative_scan: running combinations along a dimension."""

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _operators


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """For every place along dim the combination of all up to it."""
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = tree_flatten(xs)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    recorded = _operators.recording("associative_scan")
    if recorded is not None and combine_mode == "pointwise":
        return _recorded_scan(recorded, combine_fn, leaves, spec, dim % leaves[0].dim(), reverse)
    places = range(leaves[0].shape[dim])
    order = list(reversed(places)) if reverse else list(places)
    rows = []
    for i in order:
        here = tree_unflatten([t.select(dim, i) for t in leaves], spec)
        total = here if not rows else combine_fn(tree_unflatten(rows[-1], spec), here)
        rows.append(tree_flatten(total)[0])
    if reverse:
        rows.reverse()
    return tree_unflatten([torch.stack(column, dim) for column in zip(*rows)], spec)


def _recorded_scan(recorded, combine_fn, leaves, spec, dim, reverse):
    leaves = [torch.movedim(t, dim, 0) for t in leaves]
    if reverse:
        leaves = [torch.flip(t, [0]) for t in leaves]

    def flatly(*values):
        count = len(leaves)
        total = combine_fn(tree_unflatten(list(values[:count]), spec), tree_unflatten(list(values[count:]), spec))
        return tree_flatten(total)[0]

    made = recorded(flatly, leaves)
    if reverse:
        made = [torch.flip(t, [0]) for t in made]
    return tree_unflatten([torch.movedim(t, 0, dim) for t in made], spec)


associative_scan_op = _operators.operators.associative_scan
