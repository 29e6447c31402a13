"""CommDebugMode: how many collectives DTensors issue."""

from collections import defaultdict

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed import distributed_c10d as c10d
from torch.distributed.tensor import _api


class CommDebugMode:
    """Counts the collectives that DTensors issue within the with-block, by name."""

    def __enter__(self):
        self._before = self._now()
        self._counts = None
        return self

    def __exit__(self, *exception):
        self._counts = self._difference()

    @staticmethod
    def _now():
        total = {}
        for number in _api._meshes:
            for name, count in _link._issued(number).items():
                total[name] = total.get(name, 0) + count
        return total

    def _difference(self):
        now = self._now()
        return {name: now[name] - self._before.get(name, 0) for name in now if now[name] != self._before.get(name, 0)}

    def get_comm_counts(self):
        """Calls by operator: torch.ops.c10d_functional.all_reduce."""
        counts = self._difference() if self._counts is None else self._counts
        return defaultdict(int, {_operator(name): count for name, count in counts.items()})

    def get_total_counts(self):
        """All calls."""
        return sum(self.get_comm_counts().values())


def _operator(name):
    """The operator of a name, "c10d_functional.all_reduce"."""
    space, _, short = name.partition(".")
    return getattr(getattr(torch.ops, space), short)


def visualize_sharding(dtensor, header="", use_rich=False):
    """Print which rows and columns of a tensor of one or two dimensions each rank has."""
    if dtensor.numel() == 0:
        return
    if dtensor.ndim not in (1, 2):
        raise RuntimeError("visualize sharding only supports 1D or 2D DTensor")
    mesh = dtensor.device_mesh
    if mesh.get_coordinate() is None:
        return
    own = [tuple(range(size)) for size in dtensor.shape]
    for dim, placement in enumerate(dtensor.placements):
        if placement.is_shard():
            part = torch.chunk(torch.tensor(own[placement.dim]), mesh.size(dim))
            place = mesh.get_local_rank(dim)
            own[placement.dim] = tuple(part[place].tolist()) if place < len(part) else ()
    seen = [None] * c10d.get_world_size()
    c10d.all_gather_object(seen, own)
    if c10d.get_rank() != mesh.mesh.flatten()[0].item():
        return
    if header:
        print(header)
    parts = {}
    for rank in mesh.mesh.flatten().tolist():
        parts.setdefault(tuple(seen[rank]), []).append(rank)
    for axes, ranks in parts.items():
        spans = [f"{axis[0]}-{axis[-1]}" if axis else "none" for axis in axes]
        names = ["Row", "Col"] if len(spans) == 2 else ["Col"]
        told = ", ".join(f"{name} {span}" for name, span in zip(names, spans))
        print(f"{told}: {', '.join(f'{mesh.device_type}:{rank}' for rank in ranks)}")
