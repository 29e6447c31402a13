"""torch.distributed.nn: collectives that are steps of autograd."""

from torch.distributed.nn.functional import *  # noqa: F401, F403
