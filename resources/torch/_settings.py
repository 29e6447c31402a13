"""Settings of the whole program."""

from torch import _C

__all__ = ["set_default_dtype", "set_default_device", "get_default_device", "set_default_tensor_type",
           "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
           "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
           "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision",
           "set_warn_always", "is_warn_always_enabled", "get_num_threads", "set_num_threads",
           "get_num_interop_threads", "set_num_interop_threads", "set_flush_denormal", "compiled_with_cxx11_abi",
           "get_device_module"]

_state = {"deterministic": False, "warn_only": False, "precision": "highest", "warn_always": False, "threads": 1}


def set_default_dtype(d, /):
    """The dtype of new floating-point tensors."""
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(d)


def set_default_tensor_type(t, /):
    """set_default_dtype by the old name of a tensor type."""
    import torch

    name = t if isinstance(t, str) else t.__name__
    kinds = {"FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
             "BFloat16Tensor": torch.bfloat16}
    short = name.rpartition(".")[2]
    if short not in kinds:
        raise TypeError("only floating-point types are supported as the default type")
    _C.set_default_dtype(kinds[short])


def set_default_device(device):
    """The device of new tensors."""
    _C._set_default_device(None if device is None else _C.device(device))


def get_default_device():
    """The device of new tensors."""
    made = _C._get_default_device()
    return _C.device("cpu") if made is None else made if isinstance(made, _C.device) else _C.device(made)


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kernels here are deterministic; the flag is only remembered."""
    _state.update(deterministic=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    """What use_deterministic_algorithms was told about warnings."""
    return _state["warn_only"]


_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode):
    """use_deterministic_algorithms by 0, 1, 2 or default, warn, error."""
    mode = _DEBUG_MODES.get(debug_mode, debug_mode)
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(mode != 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2."""
    if not _state["deterministic"]:
        return 0
    return 1 if _state["warn_only"] else 2


def set_float32_matmul_precision(precision):
    """Products are always computed in full float32; the setting is only remembered."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    _state["precision"] = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told."""
    return _state["precision"]


def set_warn_always(b, /):
    """The setting is only remembered."""
    _state["warn_always"] = bool(b)


def is_warn_always_enabled():
    """What set_warn_always was told."""
    return _state["warn_always"]


def set_num_threads(n, /):
    """The number is only remembered."""
    _state["threads"] = int(n)


def get_num_threads():
    """What set_num_threads was told; 1 at first."""
    return _state["threads"]


def set_num_interop_threads(n, /):
    """Nothing to do."""


def get_num_interop_threads():
    """Always 1."""
    return 1


def set_flush_denormal(mode, /):
    """Not supported."""
    return False


def compiled_with_cxx11_abi():
    """True on Linux."""
    return True


def get_device_module(device=None):
    """The module of a device."""
    import torch

    kind = torch.get_default_device().type if device is None else torch.device(device).type
    return {"cpu": torch.cpu if hasattr(torch, "cpu") else torch.cuda, "cuda": torch.cuda}[kind]
