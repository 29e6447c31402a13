"""Modules on several devices: there is one."""

from torch.nn.modules.module import Module


class DataParallel(Module):
    """Calls the module."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def __getattr__(name):
    if name == "DistributedDataParallel":
        from torch.nn.parallel.distributed import DistributedDataParallel

        return DistributedDataParallel
    raise AttributeError(f"module 'torch.nn.parallel' has no attribute '{name}'")
