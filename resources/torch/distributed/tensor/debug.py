"""CommDebugMode: how many collectives DTensors issue."""

from torch._C import _distributed_c10d as _link
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
        """Calls by name, "c10d_functional.all_reduce"."""
        return self._difference() if self._counts is None else dict(self._counts)

    def get_total_counts(self):
        """All calls."""
        return sum(self.get_comm_counts().values())
