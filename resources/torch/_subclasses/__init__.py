"""Tensors without elements: FakeTensor."""

from torch import _absent

from .fake_tensor import (  # noqa: F401
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

__getattr__ = _absent.getter(__name__)
