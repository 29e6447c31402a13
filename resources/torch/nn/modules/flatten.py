"""Flatten and Unflatten."""

from torch import Size

from .module import Module


class Flatten(Module):
    """Joins the dimensions from start_dim to end_dim."""

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


def _need_ints(unflattened_size):
    if not isinstance(unflattened_size, (tuple, list, Size)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}")
    for idx, elem in enumerate(unflattened_size):
        if not isinstance(elem, int):
            raise TypeError(
                f"unflattened_size must be tuple of ints, but found element of type {type(elem).__name__} at pos {idx}"
            )


class Unflatten(Module):
    """Splits one dimension into several."""

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if isinstance(dim, int):
            _need_ints(unflattened_size)
        elif not isinstance(dim, str):
            raise TypeError("invalid argument type for dim parameter")
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
