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
        self.module = module
        self.find_unused_parameters = find_unused_parameters
        self.static_graph = static_graph
        self._hook = None  # (state, function) of register_comm_hook
        self._fired = None  # parameters that this backward has reached; None between backwards
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
        if not self.require_backward_grad_sync:
            return
        if not self.find_unused_parameters:
            self._reduce(parameter)
            return
        if self._fired is None:
            self._fired = set()
            torch.autograd.Variable._execution_engine.queue_callback(self._average_all)
        self._fired.add(parameter)

    def _average_all(self):
        """At the end of a backward in which ranks may have reached different parameters: in one order on all of them. What
        no rank has reached stays as it is."""
        fired, self._fired = self._fired, None
        parameters = [one for one in self.module.parameters() if one.requires_grad]
        used = torch.tensor([int(one in fired) for one in parameters])
        dist.all_reduce(used, op=dist.ReduceOp.MAX, group=self.process_group)
        for parameter, is_used in zip(parameters, used.tolist()):
            if not is_used:
                continue
            if parameter not in fired:
                parameter.grad = torch.zeros_like(parameter)
            self._reduce(parameter)

    def _reduce(self, parameter):
        """The mean of the ranks, or what the hook makes of it."""
        if self._hook is None:
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG, group=self.process_group)
            return
        state, function = self._hook
        parameters = [one for one in self.module.parameters() if one.requires_grad]
        place = next(at for at, one in enumerate(parameters) if one is parameter)
        bucket = dist.GradBucket(parameter, place, place == 0)
        bucket.set_buffer(function(state, bucket).wait())

    def register_comm_hook(self, state, hook):
        """Reduce gradients by hook(state, bucket), which gives a future of the reduced buffer."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._hook = (state, hook)

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
