"""torch.linalg: linear algebra."""

from torch import _C

LinAlgError = getattr(_C, "_LinAlgError", RuntimeError)

for _name in dir(_C._linalg):
    if _name.startswith("linalg_"):
        globals()[_name[7:]] = getattr(_C._linalg, _name)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """Diagonals of matrices."""
    import torch

    return torch.diagonal(A, offset, dim1, dim2)


def matmul(input, other, *, out=None):
    """See torch.matmul."""
    import torch

    return torch.matmul(input, other) if out is None else torch.matmul(input, other, out=out)


def cond(A, p=None, *, out=None):
    """The condition number of matrices."""
    import torch

    if p is None or p in (2, -2):
        values = svdvals(A)  # noqa: F821
        made = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    else:
        made = matrix_norm(A, p) * matrix_norm(inv(A), p)  # noqa: F821
    return made if out is None else out.copy_(made) if isinstance(out, torch.Tensor) else made
