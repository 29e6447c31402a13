"""DistributedDataParallel: the same module on every rank, its gradients averaged."""

import contextlib

import torch
import torch.distributed as dist
from torch.nn.modules.module import Module


class DistributedDataParallel(Module):
    """Runs a module on this rank's share of the batch. Parameters and buffers are those of rank 0 at first; each gradient
    is the mean of all ranks' as soon as it is there."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, delay_all_reduce_named_params=None,
                 param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None, skip_all_reduce_unused_params=False):
        super().__init__()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that "
                               "requires a gradient.")
        if find_unused_parameters:
            raise NotImplementedError("find_unused_parameters: ranks whose parameters differ in use are not averaged by "
                                      "this torch")
        self.module = module
        self.process_group = device_mesh.get_group() if device_mesh is not None else process_group
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = True
        if init_sync:
            self._send_state([*module.parameters(), *module.buffers()])
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self._average)

    def _send_state(self, tensors):
        for tensor in tensors:
            dist.broadcast(tensor, group=self.process_group, group_src=0)

    def _average(self, parameter):
        if self.require_backward_grad_sync:
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG, group=self.process_group)

    def forward(self, *inputs, **kwargs):
        """The module's own result."""
        if self.broadcast_buffers and self.require_backward_grad_sync and torch.is_grad_enabled() and self.training:
            self._send_state(self.module.buffers())
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients stay those of this rank."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before
