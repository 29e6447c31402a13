"""torch.distributed.tensor: DTensor, its placements, and modules made of them."""

import importlib

from torch.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
from torch.distributed.tensor._api import (  # noqa: F401
    DTensor, distribute_module, distribute_tensor, empty, full, ones, rand, randn, zeros,
)
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _StridedShard  # noqa: F401


def __getattr__(name):
    if name in ("_dtensor_spec", "_utils", "debug", "device_mesh", "experimental", "parallel"):
        return importlib.import_module("torch.distributed.tensor." + name)
    raise AttributeError(f"module 'torch.distributed.tensor' has no attribute '{name}'")
