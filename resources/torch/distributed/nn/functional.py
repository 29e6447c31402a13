"""Collectives that give new tensors and have gradients."""

import torch
from torch.distributed import distributed_c10d as c10d
from torch.distributed.distributed_c10d import ReduceOp

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
           "scatter"]


def _world(group):
    return c10d._of(None if group is c10d.group.WORLD else group)


class _AllReduce(torch.autograd.Function):
    """Each rank's gradient reaches what all ranks gave."""

    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = tensor.detach().clone()
        c10d.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(torch.autograd.Function):
    """The gradient of what one rank gave is the sum of all."""

    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        made = tensor.detach().clone()
        c10d.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        return None, None, _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)


class _Reduce(torch.autograd.Function):
    """Sums on one rank; the others keep zeros."""

    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = tensor.detach().clone()
        c10d.reduce(made, dst, op, group)
        return made if c10d.get_rank() == dst else torch.zeros_like(made)

    @staticmethod
    def backward(ctx, grad):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _AllGather(torch.autograd.Function):
    """The gradient of a part is the sum of the gradients that it has on all ranks."""

    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        parts = [torch.empty_like(tensor) for _ in range(c10d.get_world_size(group))]
        c10d.all_gather(parts, tensor.detach().contiguous(), group)
        return tuple(parts)

    @staticmethod
    def backward(ctx, *grads):
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, *grads)


class _ReduceScatter(torch.autograd.Function):
    """One part of the sums for each rank."""

    @staticmethod
    def forward(ctx, op, group, *tensors):
        ctx.group = group
        mine = torch.empty_like(tensors[c10d.get_rank(group)])
        c10d.reduce_scatter(mine, [one.detach().contiguous() for one in tensors], op, group)
        return mine

    @staticmethod
    def backward(ctx, grad):
        return (None, None, *_AllGather.apply(ctx.group, grad))


class _AllToAll(torch.autograd.Function):
    """Gradients go back to where the parts came from."""

    @staticmethod
    def forward(ctx, group, shapes, *tensors):
        ctx.group, ctx.shapes = group, [one.shape for one in tensors]
        come = [tensors[0].new_empty(shape) for shape in shapes]
        c10d.all_to_all(come, [one.detach().contiguous() for one in tensors], group)
        return tuple(come)

    @staticmethod
    def backward(ctx, *grads):
        return (None, None, *_AllToAll.apply(ctx.group, ctx.shapes, *grads))


def broadcast(tensor, src, group=c10d.group.WORLD):
    """The tensor of one rank."""
    return _Broadcast.apply(src, _world(group), tensor)


def reduce(tensor, dst, op=ReduceOp.SUM, group=c10d.group.WORLD):
    """The tensors of all ranks reduced, on one rank."""
    return _Reduce.apply(dst, op, _world(group), tensor)


def all_reduce(tensor, op=ReduceOp.SUM, group=c10d.group.WORLD):
    """The tensors of all ranks reduced."""
    return _AllReduce.apply(op, _world(group), tensor)


def all_gather(tensor, group=c10d.group.WORLD):
    """The tensors of all ranks, as a tuple."""
    return _AllGather.apply(_world(group), tensor)


def gather(tensor, dst=0, group=c10d.group.WORLD):
    """The tensors of all ranks on one rank; zeros on the others."""
    own = _world(group)
    parts = _AllGather.apply(own, tensor)
    return parts if c10d.get_rank() == dst else tuple(torch.zeros_like(one) for one in parts)


def scatter(tensors, src=0, group=c10d.group.WORLD):
    """This rank's one of the tensors that one rank has."""
    own = _world(group)
    return torch.stack([_Broadcast.apply(src, own, one) for one in tensors])[own.rank()]


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=c10d.group.WORLD):
    """One part of the reduced tensors for each rank."""
    return _ReduceScatter.apply(op, _world(group), *input_list)


def all_to_all(output_tensor_list, input_tensor_list, group=c10d.group.WORLD):
    """The i-th tensor goes to rank i; what comes has the shapes of the outputs."""
    return _AllToAll.apply(_world(group), [one.shape for one in output_tensor_list], *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=c10d.group.WORLD):
    """Rows go to the ranks in their order, and rows of theirs come."""
    own = _world(group)
    even = lambda tensor: [tensor.shape[0] // own.size()] * own.size()  # noqa: E731
    come = output_split_sizes or even(output)
    parts = torch.split(input, input_split_sizes or even(input))
    return torch.cat(_AllToAll.apply(own, [(rows, *output.shape[1:]) for rows in come], *parts))
