"""torch.distributed: there is one process."""


def is_available():
    """Always False."""
    return False


def is_initialized():
    """Always False."""
    return False


def get_rank(group=None):
    """No group, no rank."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_world_size(group=None):
    """No group, no size."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def init_process_group(*args, **kwargs):
    """The sandbox has no other processes."""
    raise PermissionError("the sandbox has no other processes: torch.distributed.init_process_group is refused")
