"""Words of torch.distributed: reductions, backends, options and errors."""

import enum
import os
from datetime import timedelta

import torch

default_pg_timeout = timedelta(minutes=30)


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


_level = [DebugLevel.OFF]


def get_debug_level():
    """The level that was set."""
    return _level[0]


def set_debug_level(level):
    """Another level."""
    _level[0] = level


def set_debug_level_from_env():
    """The level that TORCH_DISTRIBUTED_DEBUG names."""
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(f"The value of TORCH_DISTRIBUTED_DEBUG must be one of OFF, INFO, DETAIL, not {name}")
    set_debug_level(DebugLevel[name])


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


def get_default_backend_for_device(device):
    """Name of the backend that init_process_group takes for a device."""
    kind = device.type if isinstance(device, torch.device) else str(device).partition(":")[0]
    if kind not in _BACKENDS:
        raise ValueError(f"Default backend not registered for device : {device}")
    return _BACKENDS[kind]


def supports_complex(reduceOp):
    """Whether a reduction takes complex numbers."""
    return _op_name(reduceOp) not in ("max", "min", "product", "band", "bor", "bxor")


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
