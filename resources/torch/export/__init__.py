"""torch.export: whole programs as graphs."""

import torch
from torch import _C


class Dim:
    """A size that may differ."""

    AUTO = "auto"
    STATIC = "static"
    DYNAMIC = "dynamic"

    def __init__(self, name, *, min=None, max=None):
        self.__name__, self.min, self.max = name, min, max

    def __repr__(self):
        return f"Dim('{self.__name__}', min={self.min}, max={self.max})"


def dims(*names, min=None, max=None):
    """Several sizes that may differ."""
    return tuple(Dim(n, min=min, max=max) for n in names)


class Constraint:
    """A bound on a size."""


class ShapesCollection(dict):
    """Sizes that may differ, by tensor."""


class ModuleCallSignature:
    """The inputs and outputs of a submodule."""


def export(mod, args, kwargs=None, *, dynamic_shapes=None, strict=False, preserve_module_call_signature=(), **unused):
    """The graph of a module on example inputs."""
    hook = getattr(getattr(_C, "_dynamo", None), "export", None)
    if hook is None:
        raise RuntimeError("torch.export.export needs Kerf's Dynamo, which is not in this build")
    return hook(mod, args, kwargs or {}, dynamic_shapes)


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
