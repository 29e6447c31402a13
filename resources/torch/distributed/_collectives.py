"""Collectives on tensors: each writes into tensors that the caller gives."""

import contextlib

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed._groups import _of, _outside, _rank_in, get_rank
from torch.distributed._types import ReduceOp, _op_name
from torch.distributed._work import Work, _done


_ops = torch.ops._c10d_functional
# Looked up once, so that tracing a function that calls them finds them.
_OPS = [
    getattr(_ops, name).default
    for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast",
                 "wait_tensor", "all_reduce_coalesced", "all_gather_into_tensor_coalesced")
]


def _check_tensor(tensor, name):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor.")


def _name_of(dtype):
    return str(dtype)[6:]


def _fits(into, dtype, name, come=None):
    """Nothing is converted on the way: what comes has the dtype of the tensor that it is written into."""
    if into.dtype != dtype:
        rank = get_rank()
        raise ValueError(f"rank {rank}: {name} of {_name_of(dtype)} into a tensor of {_name_of(into.dtype)}{come or ''}; "
                         f"Invalid usage of tensors with different dtypes. Found {into.dtype} and {dtype}")


def _same_dtypes(tensors, dtype, name):
    for tensor in tensors:
        _check_tensor(tensor, name)
        _fits(tensor, dtype, name)


def _write(into, result, name="a collective"):
    """The result into a tensor that the caller gave; it is no step of autograd."""
    _fits(into, result.dtype, name)
    if into.numel() != result.numel():
        raise ValueError(f"rank {get_rank()}: {name} gives {tuple(result.shape)} for a tensor of {tuple(into.shape)}")
    into.detach().copy_(result.reshape(into.shape))


def _described(tensor):
    return f"{_name_of(tensor.dtype)} {list(tensor.shape)}"


def _finished(result):
    """What an operator gave, when it is there."""
    return _ops.wait_tensor.default(result)


def _rows(tensor):
    """Data alone, of one dimension at least."""
    plain = tensor.detach()
    return plain.reshape(1) if plain.dim() == 0 else plain


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """The values of all ranks, reduced, on every rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    result = _ops.all_reduce.default(tensor.detach(), _op_name(op), _of(group).group_name)
    _write(tensor, _finished(result), "all_reduce")
    return _done(async_op, [tensor])


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of each tensor."""
    for tensor in tensors:
        all_reduce(tensor, op, group)
    return _done(async_op, list(tensors))


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """The values of one rank on every rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    source = own._ranks[_rank_in(own, src, group_src, "src")]
    _write(tensor, _finished(_ops.broadcast.default(tensor.detach(), source, own.group_name)), "broadcast")
    return _done(async_op, [tensor])


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """The values of all ranks, reduced, on one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    target = _rank_in(own, dst, group_dst, "dst")
    result = _ops.all_reduce.default(tensor.detach(), _op_name(op), own.group_name)
    if own.rank() == target:
        _write(tensor, _finished(result), "reduce")
    return _done(async_op, [tensor])


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """The tensors of all ranks, into a list of them."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    if len(tensor_list) != own.size():
        raise ValueError(f"all_gather gets a list of {len(tensor_list)} tensors in a group of {own.size()}")
    _same_dtypes(tensor_list, tensor.dtype, "all_gather")
    for into, part in zip(tensor_list, _gathered(tensor_list, tensor, own)):
        _write(into, part, "all_gather")
    return _done(async_op, tensor_list)


def _gathered(tensor_list, tensor, own):
    """The tensors of all ranks: an operator of graphs where they have one size, as the list says."""
    if any(into.numel() != tensor.numel() for into in tensor_list):
        return _link._gather(own.group_name, "all_gather", _name_of(tensor.dtype), tensor.detach())
    result = _ops.all_gather_into_tensor.default(_rows(tensor), own.size(), own.group_name)
    return _finished(result).reshape(own.size(), *tensor.shape)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of each tensor: output_tensor_lists[i][k] is tensor k of rank i."""
    if _outside(group):
        return None
    for place, tensor in enumerate(input_tensor_list):
        all_gather([parts[place] for parts in output_tensor_lists], tensor, group)
    return _done(async_op, output_tensor_lists)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all ranks, one behind the other or stacked."""
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    if _outside(group):
        return None
    own = _of(group)
    _fits(output_tensor, input_tensor.dtype, "all_gather_into_tensor")
    if output_tensor.numel() != input_tensor.numel() * own.size():
        raise ValueError(f"rank {get_rank()}: all_gather_into_tensor of {tuple(input_tensor.shape)} on {own.size()} ranks "
                         f"does not give a tensor of {tuple(output_tensor.shape)}")
    result = _ops.all_gather_into_tensor.default(_rows(input_tensor), own.size(), own.group_name)
    _write(output_tensor, _finished(result), "all_gather_into_tensor")
    return _done(async_op, [output_tensor])


_all_gather_base = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """The tensors of all ranks, into a list of one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    target = 0 if dst is None and group_dst is None else _rank_in(own, dst, group_dst, "dst")
    if own.rank() != target and gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if own.rank() == target:
        if gather_list is None or len(gather_list) != own.size():
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        _same_dtypes(gather_list, tensor.dtype, "gather")
    parts = _link._gather(own.group_name, "gather", f"to {target} {_described(tensor)}", tensor.detach())
    for into, part in zip(gather_list or [], parts):
        _write(into, part, "gather")
    return _done(async_op, gather_list)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Each rank gets one of the tensors that one rank has."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    source = 0 if src is None and group_src is None else _rank_in(own, src, group_src, "src")
    if own.rank() == source:
        if scatter_list is None or len(scatter_list) != own.size():
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _same_dtypes(scatter_list, tensor.dtype, "scatter")
        for part in scatter_list:
            if part.numel() != tensor.numel():
                raise ValueError(f"rank {get_rank()}: scatter of {tuple(part.shape)} into a tensor of {tuple(tensor.shape)}")
        mine = torch.stack([part.detach().reshape(tensor.shape) for part in scatter_list])
    else:
        if scatter_list:
            raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
        mine = torch.empty([own.size(), *tensor.shape], dtype=tensor.dtype)
    all_parts = _ops.broadcast.default(mine, own._ranks[source], own.group_name)
    _write(tensor, _finished(all_parts)[own.rank()], "scatter")
    return _done(async_op, [tensor])


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """The values of all ranks, reduced, and of that this rank's part of the first dimension."""
    _check_tensor(input, "input")
    _check_tensor(output, "output")
    if _outside(group):
        return None
    own = _of(group)
    _fits(output, input.dtype, "reduce_scatter_tensor")
    if input.numel() != output.numel() * own.size():
        raise ValueError(f"reduce_scatter_tensor: an input of {tuple(input.shape)} has no equal parts of "
                         f"{tuple(output.shape)} for {own.size()} ranks")
    flat = input.detach().reshape(own.size() * output.numel())
    result = _ops.reduce_scatter_tensor.default(flat, _op_name(op), own.size(), own.group_name)
    _write(output, _finished(result), "reduce_scatter_tensor")
    return _done(async_op, [output])


_reduce_scatter_base = reduce_scatter_tensor


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Part i of the lists of all ranks, reduced, on rank i."""
    if _outside(group):
        return None
    own = _of(group)
    if len(input_list) != own.size():
        raise ValueError(f"reduce_scatter gets a list of {len(input_list)} tensors in a group of {own.size()}")
    _same_dtypes(input_list, output.dtype, "reduce_scatter")
    for place, part in enumerate(input_list):
        reduced = _ops.all_reduce.default(part.detach(), _op_name(op), own.group_name)
        if place == own.rank():
            _write(output, _finished(reduced), "reduce_scatter")
    return _done(async_op, [output])


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Rows of the input go to the ranks in their order, and rows of theirs come."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if _outside(group):
        return None
    own = _of(group)
    _fits(output, input.dtype, "all_to_all_single")
    count = own.size()
    sent = list(input_split_sizes) if input_split_sizes else [input.shape[0] // count] * count
    come = list(output_split_sizes) if output_split_sizes else [output.shape[0] // count] * count
    if sum(sent) != input.shape[0] or sum(come) != output.shape[0]:
        raise ValueError(f"all_to_all_single: splits {sent} and {come} are not those of {input.shape[0]} rows sent and "
                         f"{output.shape[0]} that come")
    result = _ops.all_to_all_single.default(input.detach(), come, sent, own.group_name)
    _write(output, _finished(result), "all_to_all_single")
    return _done(async_op, [output])


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Tensor i goes to rank i, and tensor i comes from it."""
    if _outside(group):
        return None
    own = _of(group)
    if len(input_tensor_list) != own.size() or len(output_tensor_list) != own.size():
        raise ValueError(f"all_to_all gets lists of {len(input_tensor_list)} and {len(output_tensor_list)} tensors in a "
                         f"group of {own.size()}")
    if input_tensor_list:
        _same_dtypes([*input_tensor_list, *output_tensor_list], input_tensor_list[0].dtype, "all_to_all")
    flat = torch.cat([part.detach().reshape(-1) for part in input_tensor_list])
    come = [part.numel() for part in output_tensor_list]
    sent = [part.numel() for part in input_tensor_list]
    result = _ops.all_to_all_single.default(flat, come, sent, own.group_name)
    for into, part in zip(output_tensor_list, torch.split(_finished(result), come)):
        _write(into, part, "all_to_all")
    return _done(async_op, output_tensor_list)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait for all ranks."""
    if _outside(group):
        return None
    _link._barrier(_of(group).group_name)
    return _done(async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier(); its error names who is missing anyway."""
    barrier(group)


class _Coalesced(Work):
    """What _coalescing_manager gives: its collectives have run when its block ends."""

    def append(self, work):
        """Another one."""
        self._result.append(work)

    def wait(self, timeout=None):
        """True when all are done."""
        for work in self._result:
            if work is not None:
                work.wait()
        return True


@contextlib.contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """A block of collectives that PyTorch starts together. Here each runs where it stands."""
    _of(group)
    yield _Coalesced()
