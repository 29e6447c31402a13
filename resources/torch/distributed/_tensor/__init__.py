"""The older name of torch.distributed.tensor."""

from torch.distributed.tensor import *  # noqa: F401, F403
from torch.distributed.tensor import (  # noqa: F401
    DeviceMesh, DTensor, Partial, Placement, Replicate, Shard, distribute_module, distribute_tensor, init_device_mesh,
)
