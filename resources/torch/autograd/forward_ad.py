"""Forward-mode derivatives by double backward: see torch.func.jvp."""

import contextlib
from collections import namedtuple

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])


@contextlib.contextmanager
def dual_level():
    """Dual tensors are not supported."""
    raise NotImplementedError("forward-mode AD by dual tensors is not supported; use torch.func.jvp")
    yield


def unpack_dual(tensor, *, level=None):
    """A tensor and its tangent: there is none."""
    return UnpackedDualTensor(tensor, None)


def make_dual(tensor, tangent, *, level=None):
    """Dual tensors are not supported."""
    raise NotImplementedError("forward-mode AD by dual tensors is not supported; use torch.func.jvp")
