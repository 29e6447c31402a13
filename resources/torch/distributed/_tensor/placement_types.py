"""The older place of the placements."""

from torch.distributed.tensor.placement_types import *  # noqa: F401, F403
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard  # noqa: F401
