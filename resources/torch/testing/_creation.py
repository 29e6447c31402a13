"""make_tensor: tensors for tests."""

import torch

_INTEGERS = {"uint8": (0, 256), "int8": (-128, 128)}


def make_tensor(*shape, dtype, device=None, low=None, high=None, requires_grad=False, noncontiguous=False,
                exclude_zero=False, memory_format=None):
    """A tensor of values from [low, high)."""
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = tuple(shape[0])
    name = str(dtype).rpartition(".")[2]
    if dtype is torch.bool:
        made = torch.randint(0, 2, shape, device=device).to(torch.bool)
    elif dtype.is_floating_point or dtype.is_complex:
        low, high = -9 if low is None else low, 9 if high is None else high
        if dtype.is_complex:
            half = torch.float64 if dtype is torch.complex128 else torch.float32
            made = torch.complex(torch.empty(shape, dtype=half, device=device).uniform_(low, high),
                                 torch.empty(shape, dtype=half, device=device).uniform_(low, high))
        else:
            made = torch.empty(shape, dtype=dtype, device=device).uniform_(low, high)
    else:
        limits = (0, 10) if name == "uint8" else (-9, 10)
        low, high = limits[0] if low is None else low, limits[1] if high is None else high
        made = torch.randint(int(low), int(high), shape, dtype=dtype, device=device)
    if exclude_zero:
        made[made == 0] = 1
    if noncontiguous and made.numel() > 1:
        made = torch.repeat_interleave(made, 2, dim=-1)[..., ::2]
    return made.requires_grad_(requires_grad) if requires_grad else made
