"""torch.distributed.optim: optimizers whose state the ranks share."""

from torch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer  # noqa: F401


def __getattr__(name):
    from torch._absent import message

    raise AttributeError(message("torch.distributed.optim", name))
