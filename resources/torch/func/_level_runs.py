"""What the nodes of grad and vmap run in a graph: tensors carry gradients by the tape, so a level is a list of its leaves."""

import torch

from . import _transforms, _vmap

_open = []


def enter_grad():
    """Begin a level; gradients are recorded in it."""
    _open.append((torch.is_grad_enabled(), [], []))
    torch._C._set_grad_enabled(True)
    return len(_open)


def leave_grad():
    """End the level."""
    before, _, _ = _open.pop()
    torch._C._set_grad_enabled(before)
    return len(_open)


def wrap_tracked(tensor, level):
    """A tensor whose gradient the level gives."""
    made = _transforms._tracked(tensor)
    _open[-1][1].append(made)
    return made


def wrap_for_grad(tensor, level):
    """A tensor that the level only looks at."""
    return tensor


def autograd_grad(outputs, inputs, create_graph=True):
    """Gradients of the level's tensors."""
    return tuple(_transforms._tensor_grads(list(outputs), list(inputs), create_graph=create_graph))


def vjp_grad(outputs, inputs, vectors, retain_graph=True, create_graph=True):
    """Gradients of a level that was left."""
    with torch.enable_grad():
        found = _transforms._tensor_grads(list(outputs), list(inputs), list(vectors), create_graph=create_graph)
    return tuple(_transforms._leave(found, list(inputs)))


def make_dual(primal, tangent, level=0):
    """A tensor with a direction: the level keeps both."""
    made = wrap_tracked(primal, level)
    _open[-1][2].append(tangent)
    return made


def tangent_of(tensor):
    """The derivative of a tensor along the directions of the level: a vjp is linear in its vector. None without one."""
    _, leaves, tangents = _open[-1]
    leaves = leaves[:len(tangents)]
    vector = torch.zeros_like(tensor, requires_grad=True)
    _open[-1][1].append(vector)
    used = [(f, t) for f, t in zip(_transforms._tensor_grads([tensor], leaves, [vector]), tangents) if f.requires_grad]
    if not used:
        return None
    return torch.autograd.grad([f for f, _ in used], [vector], [t for _, t in used], create_graph=True,
                               allow_unused=True)[0]


def unpack_dual(tensor, level=0):
    """A tensor, and its derivative along the directions of the level."""
    found = tangent_of(tensor)
    return tensor, torch.zeros_like(tensor) if found is None else found


def unwrap_for_grad(tensor, level):
    """A tensor without what only this level needs."""
    before, leaves, _ = _open[-1]
    made = _transforms._leave(tensor, leaves)
    return made if before else made.detach()


def run_vmap(body, tensors, dims, others, out_dims, randomness):
    """The body for each example, its results stacked."""
    made = _vmap.vmap(lambda *own: tuple(body(*own, *others)), in_dims=tuple(dims), out_dims=tuple(out_dims),
                      randomness=randomness)(*tensors)
    return made
