"""The older place of torch.distributed.fsdp.fully_shard."""

from torch.distributed.fsdp import (  # noqa: F401
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, fully_shard, register_fsdp_forward_method,
)
