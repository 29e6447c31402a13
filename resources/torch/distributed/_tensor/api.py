"""The older place of torch.distributed.tensor."""

from torch.distributed.tensor._api import DTensor, distribute_module, distribute_tensor  # noqa: F401
