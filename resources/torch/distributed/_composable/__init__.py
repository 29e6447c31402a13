"""Older names."""

from torch.distributed._composable.replicate import replicate  # noqa: F401
from torch.distributed.fsdp import fully_shard  # noqa: F401
