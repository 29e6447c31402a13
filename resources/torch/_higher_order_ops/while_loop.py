"""while_loop: a function again and again."""

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import _operators


def while_loop(cond_fn, body_fn, carried_inputs):
    """Replace carried_inputs by body_fn(*carried_inputs) while cond_fn(*carried_inputs) holds."""
    if not callable(cond_fn):
        raise RuntimeError("Expect cond_fn to be callable.")
    if not callable(body_fn):
        raise RuntimeError("Expect body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple or list, but got {type(carried_inputs)}.")
    recorded = _operators.recording("while_loop")
    if recorded is not None:
        return recorded(cond_fn, body_fn, carried_inputs)
    values = tuple(carried_inputs)
    leaves, spec = tree_flatten(values)
    values = tree_unflatten([t.clone() if isinstance(t, torch.Tensor) else t for t in leaves], spec)
    while _holds(cond_fn(*values)):
        made = body_fn(*values)
        made = made if isinstance(made, tuple) else (made,) if not isinstance(made, list) else tuple(made)
        if len(made) != len(values):
            raise AssertionError("body_fn should return the same number of elements as carried_inputs")
        values = made
    return values


def _holds(pred):
    if isinstance(pred, torch.Tensor) and pred.size() != torch.Size([]):
        raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {pred}")
    return bool(pred)


while_loop_op = _operators.operators.while_loop
