"""torch.profiler: names for regions; nothing is measured."""

import enum

from torch.autograd.profiler import profile, record_function  # noqa: F401


class ProfilerActivity(enum.Enum):
    """What a profiler would watch."""

    CPU = 0
    CUDA = 1
