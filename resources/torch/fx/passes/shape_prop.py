"""Shapes of all nodes for example inputs."""

from typing import Any, NamedTuple

import torch

from ..interpreter import Interpreter
from ..node import map_aggregate


class TensorMetadata(NamedTuple):
    """What a tensor is, without its data."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: Any
    memory_format: Any
    is_quantized: bool
    qparams: Any


def _extract_tensor_metadata(result, include_contiguity=True):
    memory_format = None
    if include_contiguity:
        for guess in (torch.contiguous_format, torch.channels_last, torch.channels_last_3d):
            wanted = {torch.channels_last: 4, torch.channels_last_3d: 5}.get(guess, result.dim())
            if result.dim() == wanted and result.is_contiguous(memory_format=guess):
                memory_format = guess
                break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {})


class ShapeProp(Interpreter):
    """Runs the graph and notes `tensor_meta` and `type` of each node."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)

    def run_node(self, n):
        """Runs one node and notes what it gave."""
        result = super().run_node(n)
        found = []

        def note(value):
            if isinstance(value, torch.Tensor):
                found.append(value)
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Runs the graph."""
        return super().run(*args)
