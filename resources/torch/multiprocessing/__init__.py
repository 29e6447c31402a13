"""torch.multiprocessing: a program that runs as several ranks calls the function of its own rank in place of spawning."""

from torch._C import _distributed_c10d as _link


class ProcessException(Exception):
    """What a spawned function raised."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """What a spawned function raised, as an exception of Python."""


class SpawnContext:
    """What spawn() gives with join=False: the function has run."""

    def join(self, timeout=None, grace_period=None):
        return True


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Call fn(rank, *args) as the rank that this program is. As many ranks run as there are processes to spawn, or it is
    refused: the sandbox starts none."""
    ranks = _link._world_size()
    if nprocs != ranks:
        raise PermissionError(
            f"the sandbox starts no processes: torch.multiprocessing.spawn asks for {nprocs}, and the program runs as {ranks} "
            f"rank{'' if ranks == 1 else 's'}; run it as {nprocs} ranks"
        )
    fn(_link._rank(), *args)
    return None if join else SpawnContext()


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn", **settings):
    """spawn()."""
    return spawn(fn, args, nprocs, join, daemon, start_method)


class Process:
    """A process of a program that runs as several ranks: the first that is made is rank 0's, and so on. start() calls the
    target of this rank's, and nothing for the others."""

    _made = 0

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._rank, Process._made = Process._made % _link._world_size(), Process._made + 1
        self._target, self._args, self._kwargs = target, args, dict(kwargs or {})
        self.name = name or f"Process-{Process._made}"
        self.daemon = daemon
        self.exitcode = None

    def run(self):
        """What the process does."""
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        """Run it, where this is its rank."""
        if self._rank == _link._rank():
            self.run()
        self.exitcode = 0

    def join(self, timeout=None):
        """It has run."""

    def is_alive(self):
        return False

    def terminate(self):
        """It has run."""

    kill = close = terminate


def get_context(method=None):
    """This module."""
    import torch.multiprocessing

    return torch.multiprocessing


def set_start_method(method, force=False):
    """Nothing to choose from."""


def get_start_method(allow_none=False):
    """As PyTorch's default on Linux."""
    return "fork"


def cpu_count():
    """As Python tells it."""
    import os

    return os.cpu_count()
