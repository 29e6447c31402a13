"""torch.distributed.tensor.experimental: functions on parts, and tensors that count as replicated."""

import contextlib
import functools

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed.tensor import DTensor
from torch.utils import _pytree as pytree


@contextlib.contextmanager
def implicit_replication():
    """Tensors of this rank alone count as replicated where they meet DTensors."""
    before = _link._set_implicit_replication(True)
    try:
        yield
    finally:
        _link._set_implicit_replication(before)


def _part(value, wanted, grads, mesh, moves):
    """The part of one argument."""
    if not isinstance(value, DTensor):
        if isinstance(value, torch.Tensor) and wanted is not None:
            raise AssertionError(f"Non-DTensor input must have None placement, but got {wanted}!")
        return value
    if mesh is not None and value.device_mesh != mesh:
        raise ValueError(f"a DTensor on {value.device_mesh} in a local_map on {mesh}")
    if wanted is not None and tuple(value.placements) != tuple(wanted):
        if not moves:
            raise ValueError(f"arg {value.placements} in local_map has a mismatched placements: the given placements are "
                             f"{tuple(wanted)}")
        value = value.redistribute(placements=list(wanted))
    return value.to_local(grad_placements=list(grads) if grads is not None else None)


def local_map(func=None, out_placements=None, in_placements=None, in_grad_placements=None, device_mesh=None, *,
              redistribute_inputs=False):
    """A function on parts as one on DTensors. Placements are given for each argument and result, None for what is no
    DTensor."""
    if func is None:
        return functools.partial(local_map, out_placements=out_placements, in_placements=in_placements,
                                 in_grad_placements=in_grad_placements, device_mesh=device_mesh,
                                 redistribute_inputs=redistribute_inputs)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        flat, spec = pytree.tree_flatten(args)
        mesh = device_mesh
        for value in flat:
            if mesh is None and isinstance(value, DTensor):
                mesh = value.device_mesh
        for given in (in_placements, in_grad_placements):
            if given is not None and len(given) != len(flat):
                raise AssertionError(f"in_placements length {len(given)} does not match the number of input args {len(flat)}!")
        has_parts = any(isinstance(value, DTensor) for value in flat)
        wanted = in_placements or (None,) * len(flat)
        grads = in_grad_placements or (None,) * len(flat)
        parts = [_part(value, want, grad, mesh, redistribute_inputs)
                 for value, want, grad in zip(flat, wanted, grads)]
        result = func(*pytree.tree_unflatten(parts, spec), **kwargs)
        if not has_parts and in_placements is None:
            return result
        outputs, out_spec = pytree.tree_flatten(result)
        placed = out_placements if isinstance(out_placements, tuple) else (out_placements,)
        if len(placed) != len(outputs):
            raise AssertionError("local_map requires one PlacementType be provided for each output value, received "
                                 f"{len(placed)} out_placements but {len(outputs)} is expected!")
        made = [value if place is None else DTensor.from_local(value, mesh, list(place), run_check=False)
                for value, place in zip(outputs, placed)]
        return pytree.tree_unflatten(made, out_spec)

    return wrapped


def __getattr__(name):
    from torch._absent import message

    raise AttributeError(message("torch.distributed.tensor.experimental", name))
