"""The old names of torch.amp for CUDA."""

import torch
from torch.amp.grad_scaler import GradScaler as _GradScaler


class autocast(torch.amp.autocast):
    """torch.amp.autocast for the device cuda."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """torch.amp.GradScaler for the device cuda."""

    def __init__(self, *args, **kwargs):
        super().__init__("cuda", *args, **kwargs)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """The function itself, for device cuda."""
    return torch.amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd=None):
    """The function itself, for device cuda."""
    return torch.amp.custom_bwd(bwd, device_type="cuda")
