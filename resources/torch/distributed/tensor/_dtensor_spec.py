"""What a DTensor is besides its values: mesh, placements, and the whole tensor's sizes."""

from typing import NamedTuple

import torch


class TensorMeta(NamedTuple):
    """Of the whole tensor."""

    shape: torch.Size
    stride: tuple
    dtype: torch.dtype


class DTensorSpec:
    """Mesh, placements and TensorMeta."""

    def __init__(self, mesh, placements, tensor_meta=None):
        self.mesh, self.placements, self.tensor_meta = mesh, tuple(placements), tensor_meta

    def __eq__(self, other):
        return (isinstance(other, DTensorSpec) and self.mesh == other.mesh and self.placements == other.placements and
                self.tensor_meta == other.tensor_meta)

    def __hash__(self):
        return hash((self.mesh, self.placements, self.tensor_meta))

    def _meta(self):
        if self.tensor_meta is None:
            raise ValueError("tensor_meta is not set")
        return self.tensor_meta

    @property
    def device_mesh(self):
        """The mesh."""
        return self.mesh

    @property
    def shape(self):
        """Sizes of the whole."""
        return self._meta().shape

    @property
    def stride(self):
        """Strides of the whole."""
        return self._meta().stride

    @property
    def ndim(self):
        """How many dimensions the whole has."""
        return len(self._meta().shape)

    @property
    def num_shards(self):
        """How many parts there are."""
        count = 1
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                count *= self.mesh.size(dim)
        return count

    @property
    def dim_map(self):
        """By dimension of the tensor: the dimension of the mesh that it is sharded over; -1: none."""
        places = [-1] * self.ndim
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                places[placement.dim] = dim
        return places

    @property
    def sums(self):
        """Dimensions of the mesh along which values are yet to be reduced."""
        return [dim for dim, placement in enumerate(self.placements) if placement.is_partial()]

    def is_replicated(self):
        """Whether every rank has it all."""
        return all(placement.is_replicate() for placement in self.placements)

    def is_sharded(self):
        """Whether ranks have parts."""
        return any(placement.is_shard() for placement in self.placements)

    def __str__(self):
        letters = [str(placement) for placement in self.placements]
        text = letters[0] if len(letters) == 1 else f"({', '.join(letters)})"
        shape = "unknown shape" if self.tensor_meta is None else str(tuple(self.tensor_meta.shape))
        return f"Spec({text} on {shape})"

    __repr__ = __str__
