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
    """The parameters of one fully sharded module, and of the children that are not."""

    def __init__(self, module, mesh, placement_fn, policy, ignored):
        self.module, self.mesh, self.policy = module, mesh, policy
        self.places = []  # (module, name)
        self.sharded = None  # while the whole parameters are there
        made = {}
        for owner in self._modules(module):
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
        whole = everywhere.to_local(grad_placements=[Partial("avg")] * self.mesh.ndim)
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
        self.unshard()
        dtype = self.policy.param_dtype
        if dtype is None or not self.policy.cast_forward_inputs:
            return None
        return tuple(_cast(one, dtype) for one in args), {name: _cast(one, dtype) for name, one in kwargs.items()}

    def leave(self, module, args, output):
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

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        """Gradients are reduced after every backward: the sum of their means is the mean of their sums."""

    set_is_last_backward = set_requires_all_reduce = set_reshard_after_forward = set_requires_gradient_sync
    set_reshard_after_backward = set_modules_to_forward_prefetch = set_requires_gradient_sync
    set_modules_to_backward_prefetch = set_requires_gradient_sync


def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=MixedPrecisionPolicy(),
                offload_policy=OffloadPolicy(), ignored_params=None):
    """Shard a module's parameters over a mesh: of one dimension, or replicated along the first and sharded along the
    second. Modules in it that are sharded by themselves come first. What a forward gathers stays until its backward."""
    if isinstance(module, (list, tuple)):
        raise NotImplementedError("fully_shard of several modules together is not part of this torch: shard each")
    if isinstance(module, FSDPModule):
        raise ValueError(f"fully_shard was applied to this {type(module).__name__} already")
    if mp_policy.reduce_dtype not in (None, mp_policy.param_dtype, torch.float32):
        raise NotImplementedError("a reduce_dtype of its own is not part of this torch: gradients are reduced as they are")
    used = mesh or init_device_mesh("cpu", (c10d.get_world_size(),))
    if used.ndim > 2:
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {used}")
    managed = _Managed(module, used, shard_placement_fn, mp_policy, set(ignored_params or ()))
    module._fsdp_managed = managed
    kind = type(module)
    module.__class__ = type(f"FSDP{kind.__name__}", (FSDPModule, kind), {})
    module.register_forward_pre_hook(managed.enter, prepend=True, with_kwargs=True)
    module.register_forward_hook(managed.leave, always_call=True)
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
