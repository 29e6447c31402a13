"""Process groups: which ranks of the world talk to each other."""

from datetime import timedelta

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed._types import Backend, BackendConfig, ReduceOp


_NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."


def _collective(name):
    from torch.distributed import _collectives

    return getattr(_collectives, name)


def _message(name):
    from torch.distributed import _messages

    return getattr(_messages, name)


def _listed(tensors):
    return tensors if isinstance(tensors, (list, tuple)) else [tensors]


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

    def barrier(self, opts=None):
        """torch.distributed.barrier."""
        return _collective("barrier")(group=self, async_op=True)

    def allreduce(self, tensors, op=None):
        """torch.distributed.all_reduce of each tensor; `op`: a reduction, or AllreduceOptions."""
        return self._each("all_reduce", _listed(tensors), op=getattr(op, "reduceOp", op) or ReduceOp.SUM)

    def broadcast(self, tensors, root=0):
        """torch.distributed.broadcast of each tensor; `root`: a rank of this group, or BroadcastOptions."""
        return self._each("broadcast", _listed(tensors), group_src=getattr(root, "rootRank", root))

    def allgather(self, output_tensors, input_tensors, opts=None):
        """torch.distributed.all_gather; lists of one tensor each."""
        if isinstance(input_tensors, (list, tuple)):
            output_tensors, input_tensors = output_tensors[0], input_tensors[0]
        return _collective("all_gather")(output_tensors, input_tensors, group=self, async_op=True)

    def _each(self, name, tensors, **options):
        for tensor in tensors:
            work = _collective(name)(tensor, group=self, async_op=True, **options)
        return work

    def _allgather_base(self, output, input, opts=None):
        return _collective("all_gather_into_tensor")(output, input, group=self, async_op=True)

    def _reduce_scatter_base(self, output, input, op=None):
        kind = getattr(op, "reduceOp", op) or ReduceOp.SUM
        return _collective("reduce_scatter_tensor")(output, input, op=kind, group=self, async_op=True)

    def send(self, tensors, dst, tag=0):
        """torch.distributed.isend; `dst`: a rank of this group."""
        return _message("isend")(_listed(tensors)[0], group=self, tag=tag, group_dst=dst)

    def recv(self, tensors, src, tag=0):
        """torch.distributed.irecv; `src`: a rank of this group."""
        return _message("irecv")(_listed(tensors)[0], group=self, tag=tag, group_src=src)

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
        self.number = 0  # of fake worlds that began or ended


_world = _State()


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
    name = Backend(backend if backend is not None else "gloo")
    if name == Backend.FAKE:
        if rank < 0 or world_size < 1:
            raise ValueError("a fake process group needs rank and world_size")
        _link._pretend(rank, world_size)
        _world.number += 1
    ranks, mine = _link._world_size(), _link._rank()
    if world_size not in (-1, ranks):
        raise ValueError(f"init_process_group asks for a world of {world_size} ranks, and the program runs as {ranks}")
    if rank not in (-1, mine):
        raise ValueError(f"init_process_group calls this rank {rank}, and it is rank {mine}")
    if timeout is not None:
        if not isinstance(timeout, timedelta):
            raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
        _link._set_timeout(timeout.total_seconds())
    _world.default = ProcessGroup("0", range(ranks), name, "default_pg")
    _world.groups = {"0": _world.default}
    _world.made = 1
    _link._barrier("0")


def destroy_process_group(group=None):
    """Forget a group, or all of them."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    gone = _of(group)
    _message("_forget")(None if gone is _world.default else gone.group_name)
    if gone is _world.default:
        for name in _world.groups:
            _link._drop_group(name)
        _world.default = None
        _world.groups = {}
        if gone.name() == Backend.FAKE:
            _link._stop_pretending()
            _world.number += 1
        return
    if _world.groups.pop(gone.group_name, None) is None:
        raise RuntimeError("Invalid process group specified or has been destroyed.")
    _link._drop_group(gone.group_name)


def _abort_process_group(group=None):
    """The same: nothing is under way."""
    destroy_process_group(group)


def _set_pg_timeout(timeout, group=None):
    """Of each collective and message from now on."""
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    _of(group)
    _link._set_timeout(timeout.total_seconds())


def _get_pg_default_device(group=None):
    """Where objects travel."""
    _of(group)
    return torch.device("cpu")


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


def get_pg_count():
    """How many groups there are."""
    return len(_world.groups)


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


def _has_several_ranks():
    """Whether there is a process group of several ranks."""
    return _world.default is not None and _world.default.size() > 1
