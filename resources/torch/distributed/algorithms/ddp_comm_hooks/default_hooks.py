"""The mean of the ranks, in the gradient's dtype or in a shorter one."""

import torch
from torch.distributed import distributed_c10d as c10d


def allreduce_hook(process_group, bucket):
    """The mean of all ranks."""
    return _mean(process_group, bucket, bucket.buffer().dtype)


def fp16_compress_hook(process_group, bucket):
    """The mean of all ranks, in float16 on the way."""
    return _mean(process_group, bucket, torch.float16)


def bf16_compress_hook(process_group, bucket):
    """The mean of all ranks, in bfloat16 on the way."""
    return _mean(process_group, bucket, torch.bfloat16)


def _mean(group, bucket, dtype):
    buffer = bucket.buffer()
    sent = buffer.to(dtype).div(c10d.get_world_size(group))
    c10d.all_reduce(sent, group=group)
    buffer.copy_(sent)
    return c10d._Future(buffer)
