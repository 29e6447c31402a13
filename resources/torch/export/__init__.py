"""torch.export: whole programs as graphs."""

import torch
from torch import _absent

from ._dims import Dim, ShapesCollection, _DimHint  # noqa: F401
from ._program import CustomDecompTable, ExportedProgram, ExportGraphSignature, default_decompositions  # noqa: F401
from .dynamic_shapes import dims  # noqa: F401


class Constraint:
    """A bound on a size."""


class ModuleCallSignature:
    """The inputs and outputs of a submodule."""


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(), **unused):
    """The ATen graph of a module on example inputs, its parameters and buffers among the inputs."""
    from ._program import AsksForNumber, export_module

    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if _has_dynamic(dynamic_shapes):
        from ._dynamic import export_dynamic

        return export_dynamic(mod, tuple(args), kwargs or {}, dynamic_shapes)
    if strict:
        from ._dynamic import check_whole

        check_whole(mod, tuple(args), kwargs or {})
    try:
        return export_module(mod, tuple(args), kwargs or {})
    except AsksForNumber:
        from ._dynamic import export_numbers

        return export_numbers(mod, tuple(args), kwargs or {}, strict)


def _has_dynamic(shapes):
    if isinstance(shapes, ShapesCollection):
        return True
    leaves = torch.utils._pytree.tree_leaves(shapes, is_leaf=lambda x: isinstance(x, (Dim, _DimHint)))
    return any(leaf not in (None, Dim.STATIC) and not isinstance(leaf, int) for leaf in leaves)


export_for_training = export


def save(ep, f, **kwargs):
    """The sandbox has no files."""
    raise PermissionError("the sandbox has no files: torch.export.save is refused")


def load(f, **kwargs):
    """The sandbox has no files."""
    raise PermissionError("the sandbox has no files: torch.export.load is refused")


def register_dataclass(cls, *, serialized_type_name=None):
    """Make a dataclass a container of its fields."""
    torch.utils._pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)

__getattr__ = _absent.getter(__name__)

