"""Collectives that give new tensors: what compiled programs have in their graphs."""

import torch
from torch.distributed import distributed_c10d as c10d
from torch.distributed.device_mesh import DeviceMesh


def _group_of(group):
    """A group, a mesh of one dimension, (mesh, dimension), ranks, or a name: the ProcessGroup."""
    if isinstance(group, c10d.ProcessGroup):
        return group
    if isinstance(group, str):
        return c10d._resolve_process_group(group)
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError("Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh > 1D")
        return group.get_group()
    if isinstance(group, tuple) and len(group) == 2 and isinstance(group[0], DeviceMesh):
        return group[0].get_group(group[1])
    if isinstance(group, (list, tuple)):
        ranks = list(group)
        for known in c10d._world.groups.values():
            if known._ranks == ranks:
                return known
        raise ValueError(f"there is no process group of ranks {ranks}: make it with new_group")
    raise ValueError(f"a {type(group).__name__} is no process group")


_functional = torch.ops._c10d_functional


def wait_tensor(tensor):
    """The tensor, when its collective is done."""
    return _functional.wait_tensor.default(tensor)


def all_reduce(self, reduceOp, group, tag=""):
    """The values of all ranks, reduced."""
    return wait_tensor(_functional.all_reduce.default(self, reduceOp.lower(), _group_of(group).group_name))


def broadcast(self, src, group, tag=""):
    """The values of one rank."""
    return wait_tensor(_functional.broadcast.default(self, src, _group_of(group).group_name))


def all_gather_tensor(self, gather_dim, group, tag=""):
    """The tensors of all ranks, joined along a dimension."""
    own = _group_of(group)
    result = wait_tensor(_functional.all_gather_into_tensor.default(self.contiguous(), own.size(), own.group_name))
    return result if gather_dim == 0 else torch.cat(torch.chunk(result, own.size(), dim=0), dim=gather_dim)


def reduce_scatter_tensor(self, reduceOp, scatter_dim, group, tag=""):
    """The values of all ranks, reduced, and of that this rank's part of a dimension."""
    own = _group_of(group)
    if self.size(scatter_dim) % own.size() != 0:
        raise AssertionError(f"input dimension 0 ({self.size(0)} must be a multiple of group_size {own.size()})")
    rows = self if scatter_dim == 0 else torch.cat(torch.chunk(self, own.size(), dim=scatter_dim))
    return wait_tensor(_functional.reduce_scatter_tensor.default(rows.contiguous(), reduceOp.lower(), own.size(), own.group_name))


def all_to_all_single(self, output_split_sizes, input_split_sizes, group, tag=""):
    """Rows go to the ranks in their order, and rows of theirs come."""
    own = _group_of(group)
    if output_split_sizes is None or input_split_sizes is None:
        output_split_sizes = input_split_sizes = [self.shape[0] // own.size()] * own.size()
    return wait_tensor(_functional.all_to_all_single.default(self, list(output_split_sizes), list(input_split_sizes), own.group_name))


def all_reduce_coalesced(self, reduceOp, group, tag=""):
    """all_reduce of each tensor."""
    results = _functional.all_reduce_coalesced.default(list(self), reduceOp.lower(), _group_of(group).group_name)
    return [wait_tensor(result) for result in results]


def all_gather_into_tensor_coalesced(self, group, tag=""):
    """all_gather of each tensor along the first dimension."""
    own = _group_of(group)
    results = _functional.all_gather_into_tensor_coalesced.default(list(self), own.size(), own.group_name)
    return [wait_tensor(result) for result in results]


def reduce_scatter_tensor_coalesced(inputs, reduceOp, scatter_dim, group, tag=""):
    """reduce_scatter_tensor of each tensor, along its own dimension."""
    return [reduce_scatter_tensor(one, reduceOp, dim, group, tag) for one, dim in zip(inputs, scatter_dim)]


def permute_tensor(self, src_dst, group, tag=""):
    """The tensor of rank i goes to rank src_dst[i] of the group."""
    own = _group_of(group)
    if sorted(src_dst) != list(range(own.size())):
        raise AssertionError(f"src_dst is a permutation of the group's ranks, not {src_dst}")
    mine, rows = own.rank(), self.numel()
    sent, come = [0] * own.size(), [0] * own.size()
    sent[src_dst[mine]] = come[list(src_dst).index(mine)] = rows
    return all_to_all_single(self.reshape(-1), come, sent, own, tag).reshape(self.shape)


class AsyncCollectiveTensor(torch.Tensor):
    """A result that is waited for when it is used. There is none: results are waited for at once."""


class _AllGather(torch.autograd.Function):
    """Forward gathers, backward reduces and scatters."""

    @staticmethod
    def forward(ctx, tensor, dim, group):
        ctx.dim, ctx.group = dim, group
        return all_gather_tensor(tensor, dim, group)

    @staticmethod
    def backward(ctx, grad):
        return reduce_scatter_tensor(grad, "sum", ctx.dim, ctx.group), None, None


class _ReduceScatter(torch.autograd.Function):
    """Forward reduces and scatters, backward gathers."""

    @staticmethod
    def forward(ctx, tensor, op, dim, group):
        ctx.op, ctx.dim, ctx.group = op, dim, group
        return reduce_scatter_tensor(tensor, op, dim, group)

    @staticmethod
    def backward(ctx, grad):
        gathered = all_gather_tensor(grad, ctx.dim, ctx.group)
        if ctx.op == "avg":
            gathered = gathered / _group_of(ctx.group).size()
        return gathered, None, None, None


class _AllToAll(torch.autograd.Function):
    """Backward sends the gradients back."""

    @staticmethod
    def forward(ctx, tensor, come, sent, group):
        ctx.come, ctx.sent, ctx.group = come, sent, group
        return all_to_all_single(tensor, come, sent, group)

    @staticmethod
    def backward(ctx, grad):
        return all_to_all_single(grad, ctx.sent, ctx.come, ctx.group), None, None, None


def all_gather_tensor_autograd(self, gather_dim, group, tag=""):
    """all_gather_tensor with a gradient."""
    return _AllGather.apply(self, gather_dim, group)


def reduce_scatter_tensor_autograd(self, reduceOp, scatter_dim, group, tag=""):
    """reduce_scatter_tensor with a gradient, for sum and avg."""
    if reduceOp.lower() not in ("sum", "avg"):
        raise NotImplementedError(f"reduce_scatter_tensor of '{reduceOp}' has no gradient")
    return _ReduceScatter.apply(self, reduceOp.lower(), scatter_dim, group)


def all_to_all_single_autograd(self, output_split_sizes, input_split_sizes, group, tag=""):
    """all_to_all_single with a gradient."""
    return _AllToAll.apply(self, output_split_sizes, input_split_sizes, group)
