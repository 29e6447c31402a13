"""Parameters as one vector."""

import torch


def parameters_to_vector(parameters):
    """All parameters behind each other."""
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Give parameters the values of a vector."""
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {torch.typename(vec)}")
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()
