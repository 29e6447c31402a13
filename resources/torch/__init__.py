"""torch: tensors, gradients and neural networks on Kerf's engine."""

import builtins as _builtins
import math as _math
import sys as _sys

from torch import _C

__version__ = "2.11.0"
__all__ = ["Tensor"]

# Types and dtypes.
for _name in ("dtype", "device", "layout", "memory_format", "Size", "Generator", "finfo", "iinfo"):
    if hasattr(_C, _name):
        globals()[_name] = getattr(_C, _name)
dtype, layout, memory_format = _C.dtype, _C.layout, _C.memory_format
for _name in dir(_C):
    _value = getattr(_C, _name)
    if isinstance(_value, (dtype, layout, memory_format)):
        globals()[_name] = _value
globals().setdefault("legacy_contiguous_format", contiguous_format)  # noqa: F821
if hasattr(_C, "_dtypes"):
    globals().update(_C._dtypes())

from torch._symbolic import (  # noqa: E402
    SymBool,
    SymFloat,
    SymInt,
    sym_float,
    sym_fresh_size,
    sym_int,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
    sym_sqrt,
    sym_sum,
)

inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None

# The bound functions.
_VF = _C._VariableFunctions
for _name in dir(_VF):
    if not _name.startswith("__"):
        globals()[_name] = getattr(_VF, _name)

_WHEN_USED = ("__future__", "_functorch", "_inductor", "_logging", "accelerator", "cpu", "distributed", "distributions",
              "export", "fx", "library", "mps", "multiprocessing", "optim", "profiler", "testing")


def __getattr__(name):
    """Parts that few programs use are imported when they are used."""
    if name in _WHEN_USED:
        import importlib

        return importlib.import_module("torch." + name)
    from torch._absent import message

    raise AttributeError(message("torch", name))


# What is Python but has no tensors of its own.
from torch import version  # noqa: E402, F401
from torch._settings import *  # noqa: E402, F401, F403
from torch import overrides, utils  # noqa: E402, F401
from torch._tensor import Tensor  # noqa: E402
from torch._tensor_str import set_printoptions  # noqa: E402, F401
from torch import _tensor_str  # noqa: E402, F401
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402, F401
from torch import autograd, backends, cuda, jit, random  # noqa: E402, F401
from torch.random import (  # noqa: E402, F401
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

from torch.nn.parameter import Parameter as _Parameter  # noqa: E402

if hasattr(_C, "_init_tensor_class"):
    _C._init_tensor_class(Tensor, _Parameter)

for _name in ("is_grad_enabled", "is_inference_mode_enabled", "is_autocast_cache_enabled", "set_autocast_cache_enabled",
              "set_autocast_dtype", "autocast_increment_nesting", "autocast_decrement_nesting", "clear_autocast_cache",
              "is_anomaly_enabled", "set_anomaly_enabled", "get_default_dtype"):
    if hasattr(_C, _name):
        globals()[_name] = getattr(_C, _name)

from torch import _fallbacks  # noqa: E402

_fallbacks.install(globals(), Tensor)

from torch.functional import (  # noqa: E402, F401
    align_tensors,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    cdist,
    chain_matmul,
    einsum,
    lu,
    meshgrid,
    norm,
    split,
    stft,
    tensordot,
    unique,
    unique_consecutive,
    unravel_index,
)
from torch import functional  # noqa: E402, F401
from torch import _ops, classes  # noqa: E402, F401
from torch._ops import ops  # noqa: E402
from torch import fft, linalg, special  # noqa: E402, F401
from torch._lowrank import lobpcg, pca_lowrank, svd_lowrank  # noqa: E402, F401
from torch import nn  # noqa: E402, F401
from torch import amp  # noqa: E402, F401
from torch.amp.autocast_mode import autocast  # noqa: E402, F401
from torch import compiler, func, types  # noqa: E402, F401
from torch._higher_order_ops import cond, while_loop  # noqa: E402, F401
from torch.func import vmap  # noqa: E402, F401
from torch.serialization import load, save  # noqa: E402, F401
from torch import _dynamo  # noqa: E402, F401
from torch._compile_api import compile  # noqa: E402, F401
from torch.random import fork_rng  # noqa: E402, F401

for _old, _kind in (("FloatTensor", "float32"), ("DoubleTensor", "float64"), ("HalfTensor", "float16"),
                    ("BFloat16Tensor", "bfloat16"), ("LongTensor", "int64"), ("IntTensor", "int32"),
                    ("ShortTensor", "int16"), ("CharTensor", "int8"), ("ByteTensor", "uint8"), ("BoolTensor", "bool")):
    globals()[_old] = _types_of_old = types._typed(_old, globals()[_kind])


def is_tensor(obj, /):
    """Whether obj is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj, /):
    """Whether obj is a storage."""
    return type(obj).__name__ in ("UntypedStorage", "TypedStorage")


def typename(obj, /):
    """The name of an object's type, with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "") or ""
    qualname = getattr(obj, "__qualname__", None)
    if qualname is None:
        qualname = type(obj).__qualname__
        module = type(obj).__module__ or ""
    return qualname if module in ("", "builtins") else f"{module}.{qualname}"


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is on for a device."""
    return _C.is_autocast_enabled(device_type)


def get_autocast_dtype(device_type):
    """The dtype that autocast casts to."""
    return _C.get_autocast_dtype(device_type)


def set_autocast_enabled(*args):
    """Turn autocast on or off: set_autocast_enabled(device_type, enabled)."""
    _C.set_autocast_enabled(*(args if len(args) == 2 else ("cuda", *args)))


def is_autocast_cpu_enabled():
    """Whether autocast is on for the CPU."""
    return _C.is_autocast_enabled("cpu")


def get_autocast_cpu_dtype():
    """The dtype that autocast on the CPU casts to."""
    return _C.get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    """The dtype that autocast on the GPU casts to."""
    return _C.get_autocast_dtype("cuda")


def _check(cond, message=None):  # noqa: F811
    """Raise RuntimeError if cond is false."""
    _check_with(RuntimeError, cond, message)


def _check_with(error_type, cond, message):
    if not isinstance(cond, (_builtins.bool, SymBool)):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        text = (
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    else:
        if not callable(message):
            raise TypeError("message must be a callable")
        text = str(message())
    raise error_type(text)


def _check_is_size(i, message=None, *, max=None):
    """Raise RuntimeError if i is negative."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_index(cond, message=None):
    """Raise IndexError if cond is false."""
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    """Raise ValueError if cond is false."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """Raise TypeError if cond is false."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """Raise NotImplementedError if cond is false."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond, message=None):
    """Raise RuntimeError if an element of cond is false."""
    _check_with(RuntimeError, cond.all().item(), message)


def _assert(condition, message):
    """assert as a function."""
    if type(condition) is not Tensor and overrides.has_torch_function((condition,)):
        return overrides.handle_torch_function(_assert, (condition,), condition, message)
    assert condition, message


del _name, _value, _old, _kind, _types_of_old
_sys.modules.setdefault("torch.ops", ops)
