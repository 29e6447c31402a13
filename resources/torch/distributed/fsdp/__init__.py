"""torch.distributed.fsdp: parameters of which each rank keeps a part."""

from torch.distributed.fsdp._fully_shard import (  # noqa: F401
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, UnshardHandle, fully_shard,
    register_fsdp_forward_method,
)


def __getattr__(name):
    from torch._absent import message

    raise AttributeError(message("torch.distributed.fsdp", name))
