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


def get_device_properties(device=None):
    """No GPU, no properties."""
    raise RuntimeError("there is no CUDA device")


def mem_get_info(device=None):
    """No GPU, no memory."""
    raise RuntimeError("there is no CUDA device")


def memory_summary(device=None, abbreviated=False):
    """Nothing to tell."""
    return ""


def memory_stats(device=None):
    """Nothing is counted."""
    return {}


def init():
    """No GPU to start."""
    raise RuntimeError("there is no CUDA device")


def is_current_stream_capturing():
    """Always False."""
    return False


memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated
reset_max_memory_allocated = reset_accumulated_memory_stats = ipc_collect = reset_peak_memory_stats
seed = seed_all = ipc_collect


def initial_seed():
    """The seed that manual_seed got."""
    return _seeds[0] if _seeds else 0


def get_rng_state(device="cuda"):
    """The state of the CPU's generator: labelled tensors draw from it."""
    import torch

    return torch.get_rng_state()


def set_rng_state(new_state, device="cuda"):
    """See get_rng_state."""
    import torch

    torch.set_rng_state(new_state)


def get_rng_state_all():
    """No GPU, no states."""
    return []


def set_rng_state_all(new_states):
    """Nothing to set."""


def get_arch_list():
    """No GPU, no architectures."""
    return []


class OutOfMemoryError(RuntimeError):
    """Never raised here."""


def __getattr__(name):
    import importlib

    if name in ("amp", "nvtx"):
        return importlib.import_module("torch.cuda." + name)
    streams = importlib.import_module("torch.cuda._streams")
    if hasattr(streams, name) and not name.startswith("_"):
        return getattr(streams, name)
    from torch._absent import message

    raise AttributeError(message("torch.cuda", name))
