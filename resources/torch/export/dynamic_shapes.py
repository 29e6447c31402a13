"""torch.export.dynamic_shapes: sizes that may differ."""

from ._dims import Dim, ShapesCollection, _DimHint  # noqa: F401


def dims(*names, min=None, max=None):
    """Several sizes that may differ."""
    return tuple(Dim(n, min=min, max=max) for n in names)
