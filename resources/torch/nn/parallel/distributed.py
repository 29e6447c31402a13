"""DistributedDataParallel: the same module on every rank, its gradients averaged."""

import contextlib

import torch
import torch.distributed as dist
from torch.nn.modules.module import Module


def _own_part(tensor):
    """What this rank has of a DTensor, in the same memory; other tensors themselves."""
    return tensor.detach()._local_tensor if hasattr(tensor, "placements") else tensor


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
        if device_mesh is not None and process_group is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is not None and device_mesh.ndim != 1:
            raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        self.module = module
        self.device_mesh, self.device_ids, self.output_device, self.dim = device_mesh, None, None, dim
        self.find_unused_parameters = find_unused_parameters
        self.static_graph = static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self._hook = None  # (state, function) of register_comm_hook
        self._fired = None  # parameters that this backward has reached; None between backwards
        self._reached = set()  # those whose gradients have been reduced since the last forward
        self.process_group = device_mesh.get_group() if device_mesh is not None else process_group or dist.group.WORLD
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        first = next(iter(module.parameters()))
        self.device, self.device_type, self.is_multi_device_module = first.device, first.device.type, False
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        if init_sync:
            self._send_state([*self._named(module.named_parameters()), *self._named(module.named_buffers())])
        for parameter in self._reduced():
            parameter.register_post_accumulate_grad_hook(self._average)

    def _named(self, pairs):
        return [one for name, one in pairs if name not in self.parameters_to_ignore]

    def _reduced(self):
        """Parameters whose gradients are averaged."""
        return [one for one in self._named(self.module.named_parameters()) if one.requires_grad]

    def _send_state(self, tensors):
        for tensor in tensors:
            dist.broadcast(_own_part(tensor), group=self.process_group, group_src=0)

    def _average(self, parameter):
        if not self.require_backward_grad_sync:
            return
        if not self.find_unused_parameters and not self.static_graph:
            self._reached.add(parameter)
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
        parameters = self._reduced()
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
            dist.all_reduce(_own_part(parameter.grad), op=dist.ReduceOp.AVG, group=self.process_group)
            return
        state, function = self._hook
        place = next(at for at, one in enumerate(self._reduced()) if one is parameter)
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
        syncs = self.require_backward_grad_sync and torch.is_grad_enabled()
        if syncs:
            self._check_prior_backward()
        if self.will_sync_module_buffers():
            self._send_state(self._named(self.module.named_buffers()))
        return self.module(*inputs, **kwargs)

    def will_sync_module_buffers(self):
        """Whether the next forward takes the buffers of rank 0."""
        return self.broadcast_buffers and self.require_backward_grad_sync and torch.is_grad_enabled() and self.training

    def _check_prior_backward(self):
        """A backward that has left out parameters would have other ranks average what this one has not."""
        reached, self._reached = self._reached, set()
        parameters = self._reduced()
        left = [at for at, one in enumerate(parameters) if one not in reached]
        if not reached or not left:
            return
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
            "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
            "passing the keyword argument `find_unused_parameters=True` to "
            "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate in "
            "calculating loss. \nParameter indices which did not receive grad for rank "
            f"{dist.get_rank()}: {' '.join(map(str, left))}")

    def _set_static_graph(self):
        """Every iteration reaches the same parameters."""
        self.static_graph = True

    def _get_ddp_logging_data(self):
        return {"world_size": dist.get_world_size(self.process_group), "rank": dist.get_rank(self.process_group)}

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients stay those of this rank."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before
