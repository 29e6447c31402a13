"""Objects of Python that ranks give each other: pickled, and read by the ranks of the same program."""

import pickle

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed._groups import _of, _outside, _rank_in
from torch.distributed._messages import _next_message, send


def _objects_of_all(value, group):
    texts = _link._gather_bytes(_of(group).group_name, pickle.dumps(value))
    return [pickle.loads(text) for text in texts]


def _compiler_states(text):
    """What the compilers of all ranks tell each other."""
    return _objects_of_all(text, None)


def all_gather_object(object_list, obj, group=None):
    """The objects of all ranks, into a list."""
    if _outside(group):
        return
    object_list[:] = _objects_of_all(obj, group)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """The objects of all ranks, into a list of one rank."""
    if _outside(group):
        return
    own = _of(group)
    target = 0 if dst is None and group_dst is None else _rank_in(own, dst, group_dst, "dst")
    values = _objects_of_all(obj, group)
    if own.rank() == target:
        object_gather_list[:] = values


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """The objects of one rank on every rank."""
    if _outside(group):
        return
    own = _of(group)
    source = 0 if src is None and group_src is None else _rank_in(own, src, group_src, "src")
    values = _objects_of_all(list(object_list) if own.rank() == source else None, group)
    object_list[:] = values[source]


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    """Each rank gets one of the objects that one rank has."""
    if _outside(group):
        return
    own = _of(group)
    source = 0 if src is None and group_src is None else _rank_in(own, src, group_src, "src")
    values = _objects_of_all(scatter_object_input_list if own.rank() == source else None, group)
    scatter_object_output_list[0] = values[source][own.rank()]


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Objects to one rank."""
    data = torch.tensor(list(pickle.dumps(list(object_list))), dtype=torch.uint8)
    send(data, dst, group, group_dst=group_dst)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """Objects of one rank."""
    own = _of(group)
    source = _rank_in(own, src, group_src, "src")
    data = _next_message(own, source, 0)
    object_list[:] = pickle.loads(bytes(data.tolist()))
    return own._ranks[source]
