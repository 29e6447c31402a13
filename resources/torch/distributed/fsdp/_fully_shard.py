"""fully_shard: each rank keeps a part of every parameter; the whole is there while its module runs.

A parameter is a DTensor sharded over the ranks. Before the module's forward it is gathered, and what the forward uses is a
step of autograd on the parameter: its gradient is a pending mean of the ranks' gradients, which goes back to the shards.
"""

import functools
from dataclasses import dataclass

import torch
from torch.distributed import distributed_c10d as c10d
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """In what a module computes: its parameters, its inputs and its outputs. Gradients are reduced in the dtype of the
    stored parameters, which is what reduce_dtype=torch.float32 asks for; other dtypes are not taken."""

    param_dtype: object = None
    reduce_dtype: object = None
    output_dtype: object = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where shards wait: there is one memory."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """The same."""

    pin_memory: bool = True


class UnshardHandle:
    """What unshard(async_op=True) gives: it is done."""

    def wait(self):
        return None


class _Managed:
    """The parameters of modules that are fully sharded together, and of their children that are not."""

    def __init__(self, modules, mesh, placement_fn, policy, ignored):
        self.modules, self.mesh, self.policy = modules, mesh, policy
        self.places = []  # (module, name)
        self.sharded = None  # while the whole parameters are there
        self.running = set()  # modules of which the forward is yet to end
        self.divisor = None  # of gradients; None: how many ranks there are
        made = {}
        for owner in dict.fromkeys(one for module in modules for one in self._modules(module)):
            for name, parameter in owner._parameters.items():
                if parameter is None or parameter in ignored:
                    continue
                if isinstance(parameter, DTensor):
                    raise NotImplementedError("fully_shard of parameters that are DTensors already is not part of this torch")
                if id(parameter) not in made:
                    made[id(parameter)] = self._shard(parameter, placement_fn)
                owner._parameters[name] = made[id(parameter)]
                self.places.append((owner, name))

    @staticmethod
    def _modules(module):
        """The module and what is in it, but not what is sharded by itself."""
        todo, found = [module], []
        while todo:
            one = todo.pop()
            found.append(one)
            todo += [child for child in one.children() if not isinstance(child, FSDPModule)]
        return list(dict.fromkeys(found))

    def _shard(self, parameter, placement_fn):
        shard = placement_fn(parameter) if placement_fn is not None else None
        placements = [Replicate()] * (self.mesh.ndim - 1) + [shard or Shard(0)]
        part = distribute_tensor(parameter.detach(), self.mesh, placements, src_data_rank=None)
        return torch.nn.Parameter(part, parameter.requires_grad)

    def _whole(self, parameter):
        everywhere = parameter.redistribute(placements=[Replicate()] * self.mesh.ndim)
        reduction = "avg" if self.divisor is None else "sum"
        whole = everywhere.to_local(grad_placements=[Partial(reduction)] * self.mesh.ndim)
        if self.divisor is not None and whole.requires_grad:
            divisor = self.divisor
            whole.register_hook(lambda gradient: gradient / divisor)
        dtype = self.policy.param_dtype
        return whole.to(dtype) if dtype is not None and whole.is_floating_point() else whole

    def unshard(self):
        """The whole parameters in the places of the shards."""
        if self.sharded is not None:
            return
        self.sharded = [owner._parameters[name] for owner, name in self.places]
        wholes = {}
        for (owner, name), parameter in zip(self.places, self.sharded):
            if id(parameter) not in wholes:
                wholes[id(parameter)] = self._whole(parameter)
            owner._parameters[name] = wholes[id(parameter)]

    def reshard(self):
        """The shards again."""
        if self.sharded is None:
            return
        for (owner, name), parameter in zip(self.places, self.sharded):
            owner._parameters[name] = parameter
        self.sharded = None

    def enter(self, module, args, kwargs):
        if not self.running:
            self.running = set(self.modules)
        self.unshard()
        dtype = self.policy.param_dtype
        if dtype is None or not self.policy.cast_forward_inputs:
            return None
        return tuple(_cast(one, dtype) for one in args), {name: _cast(one, dtype) for name, one in kwargs.items()}

    def leave(self, module, args, output):
        self.running.discard(module)
        if not self.running:
            self.reshard()
        dtype = self.policy.output_dtype
        return output if dtype is None else _cast(output, dtype)


def _cast(value, dtype):
    """Floating tensors in it."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_cast(one, dtype) for one in value)
    if isinstance(value, dict):
        return {key: _cast(one, dtype) for key, one in value.items()}
    return value


class FSDPModule:
    """What a module is besides its own class when fully_shard has had it."""

    def unshard(self, async_op=False):
        """The whole parameters, until reshard() or the end of the next forward."""
        self._fsdp_managed.unshard()
        return UnshardHandle() if async_op else None

    def reshard(self):
        """The shards again."""
        self._fsdp_managed.reshard()

    def set_gradient_divide_factor(self, factor):
        """By what the sum of the ranks' gradients is divided, instead of by how many ranks there are."""
        if factor <= 0:
            raise ValueError(f"the factor that gradients are divided by is positive, not {factor}")
        self._fsdp_managed.divisor = float(factor)

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        """Gradients are reduced after every backward: the sum of their means is the mean of their sums."""

    def set_requires_all_reduce(self, requires_all_reduce, *, recurse=True):
        """The same."""

    def set_is_last_backward(self, is_last_backward):
        """Every backward is as the last one."""

    def set_reshard_after_forward(self, reshard_after_forward, recurse=True):
        """What a forward gathers stays until its backward."""

    def set_reshard_after_backward(self, reshard_after_backward, *, recurse=True):
        """The shards are there after a forward already."""

    def set_unshard_in_backward(self, unshard_in_backward):
        """A backward gathers nothing."""

    def set_modules_to_forward_prefetch(self, modules):
        """Parameters are gathered when their module runs."""
        _check_prefetched(modules)

    def set_modules_to_backward_prefetch(self, modules):
        """A backward gathers nothing."""
        _check_prefetched(modules)

    def set_post_optim_event(self, event):
        """There are no streams to wait for."""

    def set_force_sum_reduction_for_comms(self, enable):
        """Sums that are divided, or means: the same values."""

    def set_allocate_memory_from_process_group_for_comm(self, enable):
        """There is one memory."""

    def set_separate_reduce_scatter_group(self, enable):
        """Collectives of one rank run one after the other."""

    def set_all_reduce_hook(self, hook, *, stream=None):
        """Not taken."""
        raise NotImplementedError("a hook behind the all_reduce of fully_shard is not part of this torch")

    def _get_fsdp_state(self):
        return self._fsdp_managed


def _check_prefetched(modules):
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects FSDPModule but got {type(module)}:\n{module}")


def _roots(modules):
    """Those that are in no other one."""
    inner = {child for module in modules for child in module.modules() if child is not module}
    return [module for module in dict.fromkeys(modules) if module not in inner]


def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=MixedPrecisionPolicy(),
                offload_policy=OffloadPolicy(), ignored_params=None):
    """Shard a module's parameters over a mesh: of one dimension, or replicated along the first and sharded along the
    second. Modules in it that are sharded by themselves come first. What a forward gathers stays until its backward. Of a
    list of modules all parameters are gathered when the first one runs, and are shards again when all have."""
    modules = _roots(module if isinstance(module, (list, tuple)) else [module])
    for one in modules:
        if isinstance(one, (torch.nn.ModuleList, torch.nn.ModuleDict)) and type(one).forward is torch.nn.Module.forward:
            raise ValueError(f"fully_shard does not support containers that do not implement forward: {one}")
        if isinstance(one, FSDPModule):
            raise ValueError(f"fully_shard was applied to this {type(one).__name__} already")
    if mp_policy.reduce_dtype not in (None, mp_policy.param_dtype, torch.float32):
        raise NotImplementedError("a reduce_dtype of its own is not part of this torch: gradients are reduced as they are")
    used = mesh or init_device_mesh("cpu", (c10d.get_world_size(),))
    if used.ndim > 2:
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {used}")
    managed = _Managed(modules, used, shard_placement_fn, mp_policy, set(ignored_params or ()))
    for one in modules:
        one._fsdp_managed = managed
        kind = type(one)
        one.__class__ = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {})
        one.register_forward_pre_hook(managed.enter, prepend=True, with_kwargs=True)
        one.register_forward_hook(managed.leave, always_call=True)
    return module


def register_fsdp_forward_method(module, method_name):
    """Have a method gather parameters as forward does."""
    if not isinstance(module, FSDPModule):
        return
    method = getattr(module, method_name)

    @functools.wraps(method)
    def wrapped(*args, **kwargs):
        managed = module._fsdp_managed
        changed = managed.enter(module, args, kwargs)
        args, kwargs = (args, kwargs) if changed is None else changed
        try:
            output = method(*args, **kwargs)
        finally:
            managed.reshard()
        return managed.leave(module, args, output)

    setattr(module, method_name, wrapped)
