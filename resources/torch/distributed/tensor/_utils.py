"""Sizes and places of the parts of DTensors."""

from torch.distributed.tensor.placement_types import _StridedShard


def _part_of(size, count, place):
    """Start and size of a part, as torch.chunk has them."""
    step = -(-size // count)
    start = min(size, step * place)
    return start, min(size, start + step) - start


def compute_local_shape_and_global_offset(global_shape, mesh, placements):
    """Sizes of this rank's part, and where it starts in the whole; ((0,), ()) on a rank outside of the mesh. A part without
    elements starts at the end."""
    place = mesh.get_coordinate()
    if place is None:
        return (0,), ()
    sizes, starts = list(global_shape), [0] * len(global_shape)
    for dim, placement in enumerate(placements):
        if isinstance(placement, _StridedShard):
            raise NotImplementedError("the part of a _StridedShard has no one place in the whole")
        if not placement.is_shard():
            continue
        if not -len(sizes) <= placement.dim < len(sizes):
            raise AssertionError(f"Sharding dim {placement.dim} greater than tensor ndim {len(sizes)}")
        shard = placement.dim % len(sizes)
        start, sizes[shard] = _part_of(sizes[shard], mesh.size(dim), place[dim])
        starts[shard] += start
    return tuple(sizes), tuple(starts)


def compute_local_shape(global_shape, mesh, placements):
    """Sizes of this rank's part."""
    return compute_local_shape_and_global_offset(global_shape, mesh, placements)[0]


def compute_global_tensor_info(tensor, mesh, placements):
    """Sizes and strides of the whole of which every rank has such a part."""
    sizes, strides = list(tensor.size()), list(tensor.stride())
    for dim, placement in enumerate(placements):
        if not placement.is_shard():
            continue
        if placement.dim < 0:
            raise AssertionError(f"Shard placements should have negative dims normalized in the user-facing APIs: {placement}")
        step = strides[placement.dim]
        sizes[placement.dim] *= mesh.size(dim)
        for other, stride in enumerate(strides):
            if other != placement.dim and stride >= step:
                strides[other] = stride * mesh.size(dim)
    return sizes, strides


def compute_global_tensor_shape(shape, mesh, placements):
    """Sizes of the whole of which every rank has such a part."""
    from torch import Size

    sizes = list(shape)
    for dim, placement in enumerate(placements):
        if placement.is_shard():
            sizes[placement.dim] *= mesh.size(dim)
    return Size(sizes)
