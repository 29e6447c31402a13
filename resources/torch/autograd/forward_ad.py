"""Forward-mode derivatives: a dual level keeps the directions of its tensors; the tape gives derivatives along them."""

from collections import namedtuple

import torch
from torch.func import _level_runs as _levels

from .grad_mode import _DecoratorContextManager

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
_current_level = -1


def enter_dual_level():
    """Begin a level; there is at most one."""
    global _current_level
    if _current_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _current_level = 0
    _levels.enter_grad()
    return _current_level


def exit_dual_level(*, level=None):
    """End the level: its tensors have no directions any more."""
    global _current_level
    if _current_level < 0:
        raise RuntimeError("Trying to exit a forward AD level but no such level exists. Make sure you enter a level first.")
    _levels.leave_grad()
    _current_level = -1


class dual_level(_DecoratorContextManager):
    """A block in which make_dual gives tensors with directions."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, kind, value, trace):
        exit_dual_level()


def _check_level(what):
    if _current_level < 0:
        raise RuntimeError(f"Trying to {what} outside of a dual level. Make sure that you are inside of `with dual_level()`.")


def make_dual(tensor, tangent, *, level=None):
    """The tensor with a direction of the same shape."""
    _check_level("create a dual Tensor")
    if not tensor.is_floating_point() and not tensor.is_complex():
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"Trying to set a forward gradient that has a different size than that of the original Tensor, "
                           f"this is not supported. Tensor is of size {list(tensor.shape)} while the given forward "
                           f"gradient is of size {list(tangent.shape)}.")
    return _levels.make_dual(tensor, tangent)


def unpack_dual(tensor, *, level=None):
    """(primal, tangent): a tensor, and its derivative along the directions of the level; None where it depends on none."""
    if _current_level < 0 or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    found = _levels.tangent_of(tensor)
    return UnpackedDualTensor(tensor.detach(), None if found is None else found.detach())
