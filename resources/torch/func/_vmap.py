"""vmap: the function for each example by itself, the results stacked."""

import functools

import torch
from torch import _C
from torch.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

_level = 0


def _name(func):
    return getattr(func, "__name__", repr(func))


def _flat_in_dims(in_dims, args, func):
    """For each leaf of args the dimension of the examples, or None."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
            f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    flat = _broadcast_to_and_flatten(in_dims, spec, is_leaf=lambda x: x is None)
    if flat is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            f"`inputs`. in_dims has structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (leaf, dim) in enumerate(zip(leaves, flat)):
        _check_dim(leaf, dim, in_dims, func)
        if dim is not None and dim < 0:
            flat[i] = dim % leaf.dim()
    return leaves, flat, spec


def _check_dim(leaf, dim, in_dims, func):
    start = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if dim is not None and not isinstance(dim, int):
        raise ValueError(
            start + f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if isinstance(dim, int) and not isinstance(leaf, torch.Tensor):
        raise ValueError(
            start + f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if dim is not None and (dim < -leaf.dim() or dim >= leaf.dim()):
        raise ValueError(
            start + f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
            f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
        )


def _batch_size(leaves, dims, func):
    sizes = [leaf.size(d) for leaf, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise ValueError("vmap: at least one input must have a dimension of examples")
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return sizes[0]


def _stack_results(results, out_dims, func):
    """The results of the examples as one tree of tensors."""
    flat, specs = zip(*(tree_flatten(r) for r in results))
    spec = specs[0]
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        dims = list(out_dims)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    made = []
    for column, dim in zip(zip(*flat), dims):
        if dim is None:
            made.append(column[0])
            continue
        for value in column:
            if not isinstance(value, torch.Tensor):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(value)}. Did "
                    f"you mean to set out_dims= to None for output?"
                )
        made.append(torch.stack(column, dim % (column[0].dim() + 1)))
    return tree_unflatten(made, spec)


class _Examples:
    """What vmap does to random numbers while it runs."""

    def __init__(self, randomness):
        self.randomness = randomness
        self.state = torch.get_rng_state() if randomness == "same" else None

    def before(self):
        """Put the state of random numbers back, where all examples share them."""
        if self.state is not None:
            torch.set_rng_state(self.state)


def _run_vmap(func, in_dims, out_dims, randomness, args, kwargs):
    global _level
    leaves, dims, spec = _flat_in_dims(in_dims, args, func)
    named, named_spec = tree_flatten(kwargs)
    named_dims = [0 if isinstance(t, torch.Tensor) else None for t in named]
    count = _batch_size([*leaves, *named], [*dims, *named_dims], func)
    examples = _Examples(randomness)
    _level += 1
    try:
        results = []
        for i in range(count):
            examples.before()
            one = [t if d is None else t.select(d, i) for t, d in zip(leaves, dims)]
            one_named = [t if d is None else t.select(d, i) for t, d in zip(named, named_dims)]
            _C._vmap_enter((*one, *one_named))
            try:
                results.append(func(*tree_unflatten(one, spec), **tree_unflatten(one_named, named_spec)))
            finally:
                _C._vmap_leave()
    finally:
        _level -= 1
    if not results:
        raise RuntimeError("vmap: the dimension of examples has size 0")
    return _stack_results(results, out_dims, func)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for every example along in_dims and stacks what it gives along out_dims."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return _run_vmap(func, in_dims, out_dims, randomness, args, kwargs)

    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """vmap: examples are computed one by one, so chunks change nothing."""
    return vmap(func, in_dims, out_dims, randomness)
