"""torch.cuda: there is no GPU; tensors may carry the label."""

from torch._C import Generator  # noqa: F401

_seeds = []


def _remember_seed(seed):
    _seeds[:] = [seed]


def is_available():
    """Always False."""
    return False


def is_initialized():
    """Always False."""
    return False


def device_count():
    """Always 0."""
    return 0


def current_device():
    """The number of the one label."""
    return 0


def manual_seed(seed):
    """Nothing to seed."""
    _remember_seed(int(seed))


def manual_seed_all(seed):
    """Nothing to seed."""
    _remember_seed(int(seed))


def synchronize(device=None):
    """Nothing runs beside the program."""


def empty_cache():
    """Nothing to free."""


def memory_allocated(device=None):
    """Always 0."""
    return 0


def max_memory_allocated(device=None):
    """Always 0."""
    return 0


def reset_peak_memory_stats(device=None):
    """Nothing is counted."""


def get_device_capability(device=None):
    """No GPU, no capability."""
    raise RuntimeError("there is no CUDA device")


def get_device_name(device=None):
    """No GPU, no name."""
    raise RuntimeError("there is no CUDA device")


def is_bf16_supported(including_emulation=True):
    """Always False."""
    return False
