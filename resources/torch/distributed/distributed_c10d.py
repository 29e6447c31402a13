"""Process groups and the collectives of torch.distributed.

A program of several ranks runs once for each of them; what the ranks say to each other goes through
torch._C._distributed_c10d. A program that runs once is the only rank of its world.
"""

import enum
import os
import pickle
from datetime import timedelta

import torch
from torch._C import _distributed_c10d as _link

default_pg_timeout = timedelta(minutes=30)
_NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."


# Looked up once, so that tracing a function that calls them finds them.
_OPS = [
    getattr(torch.ops._c10d_functional, name).default
    for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast",
                 "wait_tensor", "all_reduce_coalesced", "all_gather_into_tensor_coalesced")
]


class ReduceOp:
    """How the values of the ranks become one."""

    def __init__(self, name, number):
        self.name = name
        self.value = number

    def __repr__(self):
        return f"<RedOpType.{self.name}: {self.value}>"

    def __eq__(self, other):
        return isinstance(other, ReduceOp) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __deepcopy__(self, memo):
        return self


for _number, _name in enumerate(("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")):
    setattr(ReduceOp, _name, ReduceOp(_name, _number))
ReduceOp.RedOpType = ReduceOp
reduce_op = ReduceOp


def _op_name(op):
    """The engine's name of a reduction."""
    if isinstance(op, str):
        return op.lower()
    if isinstance(op, ReduceOp):
        return op.name.lower()
    raise TypeError(f"a reduction is a torch.distributed.ReduceOp, not {type(op).__name__}")


class Backend(str):
    """Name of a backend. All of them are the same transport here: shared memory of this machine."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    FAKE = "fake"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, but got {type(name).__name__}")
        return super().__new__(cls, name.lower())


_BACKENDS = {"cpu": Backend.GLOO, "cuda": Backend.NCCL}


class BackendConfig:
    """The backend of each device."""

    def __init__(self, backend):
        named = dict(pair.split(":") for pair in backend.split(",")) if ":" in backend else {}
        self.device_backend_map = {device: Backend(named.get(device, backend)) for device in named or _BACKENDS}

    def get_device_backend_map(self):
        return self.device_backend_map

    def __repr__(self):
        return ",".join(f"{device}:{backend}" for device, backend in self.device_backend_map.items())


class DebugLevel(enum.Enum):
    """How much a process group checks. Collectives that differ between ranks are always told."""

    OFF = 0
    INFO = 1
    DETAIL = 2


class ProcessGroup:
    """Ranks of the world that talk to each other, in the order of the group."""

    def __init__(self, name, ranks, backend, description=None):
        self.group_name = name
        self.group_desc = description or "undefined"
        self._ranks = list(ranks)
        self._backend = backend
        mine = _link._rank()
        self._mine = self._ranks.index(mine) if mine in self._ranks else -1

    def rank(self):
        """This rank's position in the group; -1 where it is no member."""
        return self._mine

    def size(self):
        """How many ranks there are."""
        return len(self._ranks)

    def name(self):
        """Name of the backend."""
        return self._backend

    def __repr__(self):
        return f"<torch.distributed.ProcessGroup {self.group_name} of ranks {self._ranks}>"

    def __deepcopy__(self, memo):
        return self


class GroupMember:
    """What new_group gives a rank that is not in the group."""

    NON_GROUP_MEMBER = -100


class _DefaultGroup(type):
    """Gives the class `group` its attribute."""

    @property
    def WORLD(cls):
        return _world.default


class group(metaclass=_DefaultGroup):
    """The default group as an attribute, WORLD."""


class _State:
    """The groups that the program has made."""

    def __init__(self):
        self.default = None
        self.groups = {}
        self.made = 0
        self.debug_level = DebugLevel.OFF


_world = _State()


class Work:
    """What a collective gives that was asked for with async_op. It has been done already, or is done by wait()."""

    def __init__(self, finish=None, result=None):
        self._finish = finish
        self._result = result if result is not None else []

    def wait(self, timeout=None):
        """True when it is done."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()
        return True

    def is_completed(self):
        return self._finish is None

    def is_success(self):
        return self._finish is None

    def exception(self):
        return None

    def result(self):
        return self._result

    def get_future(self):
        self.wait()
        return _Future(self._result)


class _Future:
    """A finished result."""

    def __init__(self, value):
        self._value = value

    def wait(self):
        return self._value

    def value(self):
        return self._value

    def done(self):
        return True

    def then(self, callback):
        return _Future(callback(self))


def _done(async_op, result=None):
    return Work(result=result) if async_op else None


def is_backend_available(backend):
    """Whether init_process_group takes the name."""
    return backend.lower() in ("gloo", "nccl", "mpi", "fake")


def is_gloo_available():
    return True


def is_nccl_available():
    return True


def is_mpi_available():
    return True


def is_ucc_available():
    return False


def is_xccl_available():
    return False


def is_torchelastic_launched():
    """Whether the program runs as a rank of several."""
    return _link._world_size() > 1


def is_initialized():
    """Whether init_process_group has been called."""
    return _world.default is not None


def _of(group):
    """The group, or the default one."""
    if group is None:
        if _world.default is None:
            raise ValueError(_NOT_INITIALIZED)
        return _world.default
    return group


def _outside(group):
    """Whether this rank has nothing to do with the group."""
    return group == GroupMember.NON_GROUP_MEMBER or (group is not None and group.rank() < 0)


def _rank_in(group, global_rank, group_rank, name):
    """A rank of the group from one of the world, or the one given as such."""
    if (global_rank is None) == (group_rank is None):
        raise ValueError(f"{name} and group_{name}: exactly one of them is given")
    return get_group_rank(group, global_rank) if group_rank is None else group_rank


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="",
                       pg_options=None, device_id=None, _ranks=None):
    """Make the default group, of all ranks that the program runs as."""
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    ranks, mine = _link._world_size(), _link._rank()
    if world_size not in (-1, ranks):
        raise ValueError(f"init_process_group asks for a world of {world_size} ranks, and the program runs as {ranks}")
    if rank not in (-1, mine):
        raise ValueError(f"init_process_group calls this rank {rank}, and it is rank {mine}")
    if timeout is not None:
        if not isinstance(timeout, timedelta):
            raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
        _link._set_timeout(timeout.total_seconds())
    name = Backend(backend if backend is not None else "gloo")
    _world.default = ProcessGroup("0", range(ranks), name, "default_pg")
    _world.groups = {"0": _world.default}
    _world.made = 1
    barrier()


def destroy_process_group(group=None):
    """Forget a group, or all of them."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    gone = _of(group)
    if gone is _world.default:
        for name in _world.groups:
            _link._drop_group(name)
        _world.default = None
        _world.groups = {}
        return
    if _world.groups.pop(gone.group_name, None) is None:
        raise RuntimeError("Invalid process group specified or has been destroyed.")
    _link._drop_group(gone.group_name)


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None,
              device_id=None):
    """A group of some ranks. All ranks call it, also those that are not in it."""
    world = _of(None)
    ranks = list(range(world.size())) if ranks is None else list(ranks)
    if not use_local_synchronization:
        ranks.sort()
    if len(set(ranks)) < len(ranks):
        raise ValueError(f"a group has no rank twice: {ranks}")
    for one in ranks:
        if one < 0 or one >= world.size():
            raise ValueError(f"The new group's rank should be within the world_size set by init_process_group, not {one}")
    name = str(_world.made)
    _world.made += 1
    if get_rank() not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    _link._add_group(name, ranks)
    made = ProcessGroup(name, ranks, backend or world.name(), group_desc)
    _world.groups[name] = made
    return made


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of so many neighbours each: this rank's, and all."""
    size = get_world_size() if group_size is None else group_size
    if size <= 0 or get_world_size() % size != 0:
        raise ValueError(f"The world size {get_world_size()} must be divisible by group_size={size}")
    starts = range(0, get_world_size(), size)
    return new_subgroups_by_enumeration([list(range(start, start + size)) for start in starts])


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of the ranks that are listed: this rank's, and all."""
    own, made = None, []
    for ranks in ranks_per_subgroup_list:
        one = new_group(ranks)
        made.append(one)
        if get_rank() in ranks:
            own = one
    return own, made


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
    """Groups of ranks of another group."""
    parent = _of(parent_pg)
    ranks = [[parent._ranks[i] for i in part] for part in split_ranks]
    own, _ = new_subgroups_by_enumeration(ranks)
    return own


def get_rank(group=None):
    """This rank; -1 outside of the group."""
    if _outside(group):
        return -1
    return _of(group).rank()


def get_node_local_rank(fallback_rank=None):
    """All ranks are on this machine."""
    return _link._rank()


def get_world_size(group=None):
    """How many ranks there are; -1 outside of the group."""
    if _outside(group):
        return -1
    return _of(group).size()


def get_backend(group=None):
    """Name of the backend."""
    return _of(group).name()


def get_backend_config(group=None):
    """The backend of each device, as text."""
    return str(BackendConfig(Backend(_of(group).name())))


def get_default_backend_for_device(device):
    """Name of the backend that init_process_group takes for a device."""
    kind = device.type if isinstance(device, torch.device) else str(device).partition(":")[0]
    if kind not in _BACKENDS:
        raise ValueError(f"Default backend not registered for device : {device}")
    return _BACKENDS[kind]


def get_pg_count():
    """How many groups there are."""
    return len(_world.groups)


def supports_complex(reduceOp):
    """Whether a reduction takes complex numbers."""
    return _op_name(reduceOp) not in ("max", "min", "product", "band", "bor", "bxor")


def get_process_group_ranks(group):
    """Ranks of the world that are in the group."""
    return list(_of(group)._ranks)


def get_group_rank(group, global_rank):
    """Position of a rank of the world in the group."""
    ranks = _of(group)._ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {_of(group)}")
    return ranks.index(global_rank)


def get_global_rank(group, group_rank):
    """The rank of the world at a position of the group."""
    ranks = _of(group)._ranks
    if group_rank < 0 or group_rank >= len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {_of(group)}")
    return ranks[group_rank]


def _get_default_group():
    return _of(None)


def _resolve_process_group(group_name):
    """The group of a name, as graphs have it."""
    if group_name not in _world.groups:
        raise ValueError(f"there is no process group '{group_name}'")
    return _world.groups[group_name]


def _check_tensor(tensor, name):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor.")


def _write(into, result):
    """The result into a tensor that the caller gave; it is no step of autograd."""
    if into.numel() != result.numel():
        raise ValueError(f"a collective gives {tuple(result.shape)} for a tensor of {tuple(into.shape)}")
    into.detach().copy_(result.reshape(into.shape))


def _described(tensor):
    return f"{str(tensor.dtype)[6:]} {list(tensor.shape)}"


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """The values of all ranks, reduced, on every rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    result = torch.ops._c10d_functional.all_reduce.default(tensor.detach(), _op_name(op), _of(group).group_name)
    _write(tensor, result)
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
    _write(tensor, torch.ops._c10d_functional.broadcast.default(tensor.detach(), source, own.group_name))
    return _done(async_op, [tensor])


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """The values of all ranks, reduced, on one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    target = _rank_in(own, dst, group_dst, "dst")
    result = torch.ops._c10d_functional.all_reduce.default(tensor.detach(), _op_name(op), own.group_name)
    if own.rank() == target:
        _write(tensor, result)
    return _done(async_op, [tensor])


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """The tensors of all ranks, into a list of them."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    parts = _link._gather(_of(group).group_name, "all_gather", str(tensor.dtype)[6:], tensor.detach())
    if len(tensor_list) != len(parts):
        raise ValueError(f"all_gather gets a list of {len(tensor_list)} tensors in a group of {len(parts)}")
    for into, part in zip(tensor_list, parts):
        _write(into, part)
    return _done(async_op, tensor_list)


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
    result = torch.ops._c10d_functional.all_gather_into_tensor.default(input_tensor.detach(), own.size(), own.group_name)
    _write(output_tensor, result)
    return _done(async_op, [output_tensor])


_all_gather_base = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """The tensors of all ranks, into a list of one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return None
    own = _of(group)
    target = 0 if dst is None and group_dst is None else _rank_in(own, dst, group_dst, "dst")
    parts = _link._gather(own.group_name, "gather", f"to {target} {_described(tensor)}", tensor.detach())
    if own.rank() == target:
        if gather_list is None or len(gather_list) != len(parts):
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        for into, part in zip(gather_list, parts):
            _write(into, part)
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
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
        mine = torch.stack([part.detach() for part in scatter_list])
    else:
        mine = torch.empty([own.size(), *tensor.shape], dtype=tensor.dtype)
    all_parts = torch.ops._c10d_functional.broadcast.default(mine, own._ranks[source], own.group_name)
    _write(tensor, all_parts[own.rank()])
    return _done(async_op, [tensor])


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """The values of all ranks, reduced, and of that this rank's part of the first dimension."""
    _check_tensor(input, "input")
    _check_tensor(output, "output")
    if _outside(group):
        return None
    own = _of(group)
    if input.numel() != output.numel() * own.size():
        raise ValueError(f"reduce_scatter_tensor: an input of {tuple(input.shape)} has no equal parts of "
                         f"{tuple(output.shape)} for {own.size()} ranks")
    flat = input.detach().reshape(own.size() * output.numel())
    result = torch.ops._c10d_functional.reduce_scatter_tensor.default(flat, _op_name(op), own.size(), own.group_name)
    _write(output, result)
    return _done(async_op, [output])


_reduce_scatter_base = reduce_scatter_tensor


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Part i of the lists of all ranks, reduced, on rank i."""
    if _outside(group):
        return None
    own = _of(group)
    if len(input_list) != own.size():
        raise ValueError(f"reduce_scatter gets a list of {len(input_list)} tensors in a group of {own.size()}")
    for place, part in enumerate(input_list):
        reduced = torch.ops._c10d_functional.all_reduce.default(part.detach(), _op_name(op), own.group_name)
        if place == own.rank():
            _write(output, reduced)
    return _done(async_op, [output])


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Rows of the input go to the ranks in their order, and rows of theirs come."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if _outside(group):
        return None
    own = _of(group)
    count = own.size()
    sent = list(input_split_sizes) if input_split_sizes else [input.shape[0] // count] * count
    come = list(output_split_sizes) if output_split_sizes else [output.shape[0] // count] * count
    if sum(sent) != input.shape[0] or sum(come) != output.shape[0]:
        raise ValueError(f"all_to_all_single: splits {sent} and {come} are not those of {input.shape[0]} rows sent and "
                         f"{output.shape[0]} that come")
    result = torch.ops._c10d_functional.all_to_all_single.default(input.detach(), come, sent, own.group_name)
    _write(output, result)
    return _done(async_op, [output])


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Tensor i goes to rank i, and tensor i comes from it."""
    if _outside(group):
        return None
    own = _of(group)
    if len(input_tensor_list) != own.size() or len(output_tensor_list) != own.size():
        raise ValueError(f"all_to_all gets lists of {len(input_tensor_list)} and {len(output_tensor_list)} tensors in a "
                         f"group of {own.size()}")
    flat = torch.cat([part.detach().reshape(-1) for part in input_tensor_list])
    come = [part.numel() for part in output_tensor_list]
    sent = [part.numel() for part in input_tensor_list]
    result = torch.ops._c10d_functional.all_to_all_single.default(flat, come, sent, own.group_name)
    for into, part in zip(output_tensor_list, torch.split(result, come)):
        _write(into, part)
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


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """A tensor to one rank."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return
    own = _of(group)
    target = _rank_in(own, dst, group_dst, "dst")
    if target == own.rank():
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    _link._send(own.group_name, target, tag, tensor.detach())


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """A tensor of one rank; without a source of the first of which one has come. Gives the source."""
    _check_tensor(tensor, "tensor")
    if _outside(group):
        return -1
    own = _of(group)
    if src is None and group_src is None:
        raise NotImplementedError("recv without a source is not part of this torch: name the rank that sends")
    source = _rank_in(own, src, group_src, "src")
    _write(tensor, _link._recv(own.group_name, source, tag))
    return own._ranks[source]


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """send(); the values are those of now."""
    send(tensor, dst, group, tag, group_dst)
    return Work()


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """recv() when it is waited for."""
    return Work(lambda: recv(tensor, src, group, tag, group_src))


class P2POp:
    """One isend or irecv of batch_isend_irecv."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = peer if peer is not None else get_global_rank(group, group_peer)


def batch_isend_irecv(p2p_op_list):
    """Sends first; what is received comes when it is waited for."""
    works = {}
    for wanted in (isend, irecv):
        for place, one in enumerate(p2p_op_list):
            if one.op is wanted:
                works[place] = one.op(one.tensor, one.peer, group=one.group, tag=one.tag)
    return [works[place] for place in range(len(p2p_op_list))]


def _objects_of_all(value, group):
    texts = _link._gather_bytes(_of(group).group_name, pickle.dumps(value))
    return [pickle.loads(text) for text in texts]


def _has_several_ranks():
    """Whether there is a process group of several ranks."""
    return _world.default is not None and _world.default.size() > 1


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
    data = _link._recv(own.group_name, source, 0)
    object_list[:] = pickle.loads(bytes(data.tolist()))
    return own._ranks[source]


def get_debug_level():
    """The level that was set."""
    return _world.debug_level


def set_debug_level(level):
    """Another level."""
    _world.debug_level = level


def set_debug_level_from_env():
    """The level that TORCH_DISTRIBUTED_DEBUG names."""
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(f"The value of TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO, DETAIL, not {name}")
    set_debug_level(DebugLevel[name])


class _Options:
    """What a collective is asked for beside its tensors: attributes."""

    def __init__(self):
        self.reduceOp = ReduceOp.SUM
        self.rootRank = self.rootTensor = 0
        self.timeout = default_pg_timeout
        self.asyncOp = True


class AllreduceOptions(_Options):
    """Of all_reduce."""


class AllreduceCoalescedOptions(AllreduceOptions):
    """Of all_reduce_coalesced."""


class AllToAllOptions(_Options):
    """Of all_to_all."""


class BarrierOptions(_Options):
    """Of barrier."""


class BroadcastOptions(_Options):
    """Of broadcast."""


class GatherOptions(_Options):
    """Of gather."""


class ReduceOptions(_Options):
    """Of reduce."""


class ReduceScatterOptions(_Options):
    """Of reduce_scatter."""


class ScatterOptions(_Options):
    """Of scatter."""


class GradBucket:
    """Gradients that a hook of DistributedDataParallel reduces: here one for each parameter."""

    def __init__(self, parameter, place, last):
        self._parameter, self._place, self._last = parameter, place, last

    def index(self):
        """Place of the bucket."""
        return self._place

    def is_last(self):
        """Whether no other follows."""
        return self._last

    def buffer(self):
        """The gradients, one behind the other."""
        return self._parameter.grad.detach().view(-1)

    def gradients(self):
        """The gradients."""
        return [self._parameter.grad]

    def parameters(self):
        """Whose they are."""
        return [self._parameter]

    def set_buffer(self, buffer):
        """Other gradients."""
        self._parameter.grad.detach().copy_(buffer.view_as(self._parameter))


class DistError(RuntimeError):
    """What goes wrong between ranks."""


class DistBackendError(DistError):
    """What goes wrong in a backend."""


class DistNetworkError(DistError):
    """What goes wrong on the way."""


class DistStoreError(DistError):
    """What goes wrong in a store."""


class QueueEmptyError(DistStoreError):
    """A store's queue that has nothing."""
