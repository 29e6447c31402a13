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


def set_start_method(method, force=False):
    """Nothing to choose from."""


def get_start_method(allow_none=False):
    """As PyTorch's default on Linux."""
    return "fork"


def cpu_count():
    """As Python tells it."""
    import os

    return os.cpu_count()
