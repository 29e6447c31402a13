"""torch.distributed.tensor.parallel: modules sharded by styles."""

from torch.distributed.tensor.parallel.api import parallelize_module  # noqa: F401
from torch.distributed.tensor.parallel.loss import loss_parallel  # noqa: F401
from torch.distributed.tensor.parallel.style import (  # noqa: F401
    ColwiseParallel, ParallelStyle, PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput, RowwiseParallel,
    SequenceParallel,
)
