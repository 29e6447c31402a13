"""torch._inductor: the names that programs use."""

from . import config  # noqa: F401


def list_mode_options(mode=None, dynamic=None):
    """The options that a mode of torch.compile sets."""
    modes = {"default": {}, "reduce-overhead": {"triton.cudagraphs": True},
             "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
             "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True}}
    return modes[mode] if mode else modes


def list_options():
    """The names of the options that are known."""
    return sorted(n for n in vars(config) if not n.startswith("_") and n != "patch")
