"""The sampler of one rank."""

from torch.utils.data import DistributedSampler  # noqa: F401
