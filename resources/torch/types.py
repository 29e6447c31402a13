"""Types for annotations, and the old names of tensor types."""

from typing import Any, List, Optional, Sequence, Tuple, Union

import torch

_int, _float, _bool, _complex = int, float, bool, complex
_dtype, _device, _layout = torch.dtype, torch.device, torch.layout
_size = Union[torch.Size, List[int], Tuple[int, ...]]
Number = Union[int, float, bool]
Device = Optional[Union[torch.device, str, int]]
Storage = Any
SymInt = torch.SymInt
IntLikeType = Union[int, torch.SymInt]


class _TensorType(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor) and instance.dtype is cls.dtype and type(instance) is not type

    def __call__(cls, *args, **kwargs):
        if not args:
            return torch.empty(0, dtype=cls.dtype)
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], torch.Size):
            return torch.tensor(args[0], dtype=cls.dtype)
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            return args[0].to(cls.dtype)
        sizes = args[0] if isinstance(args[0], torch.Size) else args
        return torch.empty(*sizes, dtype=cls.dtype)


def _typed(name, dtype):
    """The old type of tensors of one dtype."""
    return _TensorType(name, (), {"dtype": dtype, "__module__": "torch", "is_cuda": False})


__all__ = ["Any", "Sequence"]
