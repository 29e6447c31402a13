"""DeviceMesh: ranks laid out along dimensions, with a process group for each."""

import math

import torch
from torch.distributed import distributed_c10d as c10d

_known = {}  # the first of equal meshes
_on = []  # meshes whose with-blocks the program is in


class _MeshEnv:
    """Which mesh functions take that are given none."""

    @staticmethod
    def get_current_mesh():
        if not _on:
            raise RuntimeError("No device mesh is currently active!")
        return _on[-1]


_mesh_resources = _MeshEnv()


def _groups_along(ranks, dim):
    """Lists of the ranks that differ in one dimension only."""
    last = ranks.movedim(dim, -1).reshape(-1, ranks.shape[dim])
    return last.tolist()


class DeviceMesh:
    """Ranks of the world as a tensor. All ranks make the same meshes in the same order."""

    def __init__(self, device_type, mesh, *, mesh_dim_names=None, backend_override=None, _init_backend=True, _groups=None,
                 _parent=None):
        if not c10d.is_initialized():
            c10d.init_process_group()
        self.device_type = device_type
        self.mesh = mesh.detach().to(torch.int) if isinstance(mesh, torch.Tensor) else torch.tensor(mesh, dtype=torch.int)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names is not None else None
        if self.mesh_dim_names is not None and len(self.mesh_dim_names) != self.mesh.ndim:
            raise ValueError(f"a mesh of {self.mesh.ndim} dimensions has as many names, not {len(self.mesh_dim_names)}")
        self._parent = _parent
        self._submeshes = {}
        self._flattened = {}
        flat = self.mesh.flatten().tolist()
        if len(set(flat)) != len(flat):
            raise RuntimeError(f"DeviceMesh cannot have duplicate values, but found {flat}")
        if max(flat) >= c10d.get_world_size():
            raise RuntimeError(f"a mesh of ranks {flat} does not fit a world of {c10d.get_world_size()}")
        self._groups = _groups if _groups is not None else self._make_groups(flat)
        mine = c10d.get_rank()
        found = (self.mesh == mine).nonzero().tolist()
        self._coordinate = found[0] if found else None
        _known.setdefault(self, self)

    def _make_groups(self, flat):
        world = c10d._get_default_group()
        if self.mesh.ndim == 1 and flat == list(range(world.size())):
            return [world]
        own = []
        for dim in range(self.mesh.ndim):
            made = [c10d.new_group(ranks, group_desc=self._name_of(dim)) for ranks in _groups_along(self.mesh, dim)]
            own.append(next((one for one in made if one != c10d.GroupMember.NON_GROUP_MEMBER), None))
        return own

    def _name_of(self, dim):
        return self.mesh_dim_names[dim] if self.mesh_dim_names else f"mesh_dim_{dim}"

    def _dim_of(self, mesh_dim):
        if isinstance(mesh_dim, str):
            if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
                raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: "
                               f"mesh_dim_names={self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        return mesh_dim

    @property
    def ndim(self):
        """How many dimensions."""
        return self.mesh.ndim

    @property
    def shape(self):
        """Sizes."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim=None):
        """Ranks along a dimension, or all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[self._dim_of(mesh_dim)]

    def get_rank(self):
        """This rank in the world."""
        return c10d.get_rank()

    def get_coordinate(self):
        """This rank's place along each dimension; None outside of the mesh."""
        return list(self._coordinate) if self._coordinate is not None else None

    def get_local_rank(self, mesh_dim=None):
        """This rank's place along a dimension."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be "
                               "specified when device_mesh.ndim > 1.")
        return self.get_coordinate()[self._dim_of(mesh_dim or 0)]

    def get_group(self, mesh_dim=None):
        """The process group of this rank along a dimension."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be "
                               "specified when device_mesh.ndim > 1. If you want to get the list of all the "
                               "ProcessGroups in the DeviceMesh, please use `get_all_groups()` instead.")
        return self._groups[self._dim_of(mesh_dim or 0)]

    def get_all_groups(self):
        """The process groups of this rank, by dimension."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    @classmethod
    def from_group(cls, group, device_type, mesh=None, *, mesh_dim_names=None):
        """A mesh of one dimension over a group, or of more over a list of groups."""
        groups = list(group) if isinstance(group, (list, tuple)) else [group]
        ranks = mesh if mesh is not None else c10d.get_process_group_ranks(groups[0])
        return cls(device_type, ranks, mesh_dim_names=mesh_dim_names, _groups=groups)

    def __getitem__(self, mesh_dim_names):
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        if len(names) == 1 and names[0] in self._flattened:
            return self._flattened[names[0]]
        if names in self._submeshes:
            return self._submeshes[names]
        dims = [self._dim_of(name) for name in names]
        if self._coordinate is None:
            raise RuntimeError("a rank outside of a mesh has no part of it")
        place = tuple(slice(None) if dim in dims else self._coordinate[dim] for dim in range(self.ndim))
        ordered = sorted(dims)
        part = self.mesh[place].permute([ordered.index(dim) for dim in dims])
        made = DeviceMesh(self.device_type, part, mesh_dim_names=names, _groups=[self._groups[dim] for dim in dims],
                          _parent=self)
        self._submeshes[names] = made
        return made

    def _flatten(self, mesh_dim_name=None):
        """The mesh as one dimension."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ())
        root = self._parent or self
        if name in root._flattened:
            return root._flattened[name]
        flat = self.mesh.flatten()
        made = None
        if self._parent is None:
            made = DeviceMesh(self.device_type, flat, mesh_dim_names=(name,))
        else:
            dims = [root._dim_of(one) for one in self.mesh_dim_names]
            others = [dim for dim in range(root.ndim) if dim not in dims]
            rows = root.mesh.permute(others + dims).reshape(-1, flat.numel())
            for ranks in rows.tolist():
                group = c10d.new_group(ranks, group_desc=name)
                if c10d.get_rank() in ranks:
                    made = DeviceMesh(self.device_type, ranks, mesh_dim_names=(name,), _groups=[group], _parent=root)
        root._flattened[name] = made
        return made

    def __enter__(self):
        _on.append(self)
        return self

    def __exit__(self, *exception):
        _on.pop()

    def __eq__(self, other):
        if self is other:
            return True
        return (isinstance(other, DeviceMesh) and self.device_type == other.device_type and self.shape == other.shape and
                self.mesh_dim_names == other.mesh_dim_names and self.mesh.tolist() == other.mesh.tolist())

    def __hash__(self):
        return hash((self.device_type, self.shape, self.mesh_dim_names, tuple(self.mesh.flatten().tolist())))

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _known_mesh, (self.device_type, self.mesh.tolist(), self.mesh_dim_names)

    def __repr__(self):
        if self.mesh_dim_names is None:
            return f"DeviceMesh({self.shape}, '{self.device_type}', stride={self._strides()})"
        named = ", ".join(f"{name}={size}" for name, size in zip(self.mesh_dim_names, self.shape))
        return f"DeviceMesh(({named}), '{self.device_type}', stride={self._strides()})"

    def _strides(self):
        return tuple(math.prod(self.shape[dim + 1:]) for dim in range(self.ndim))


def _known_mesh(device_type, ranks, mesh_dim_names):
    """The mesh that was pickled: the one that is there, or a new one, which all ranks make."""
    for mesh in _known:
        if (mesh.device_type, mesh.mesh.tolist(), mesh.mesh_dim_names) == (device_type, ranks, mesh_dim_names):
            return mesh
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """A mesh of that shape over all ranks, row by row."""
    shape = tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                               f"{mesh_dim_names}")
        if len(shape) != len(mesh_dim_names):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                               f"{len(mesh_dim_names)} and len(mesh_shape):{len(shape)}.")
    if not c10d.is_initialized():
        c10d.init_process_group()
    count = math.prod(shape)
    if count > c10d.get_world_size():
        raise RuntimeError(f"a mesh of {shape} has {count} ranks, and the world has {c10d.get_world_size()}")
    return DeviceMesh(device_type, torch.arange(count).view(shape), mesh_dim_names=mesh_dim_names)
