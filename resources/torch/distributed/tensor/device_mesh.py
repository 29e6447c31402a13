"""The older place of torch.distributed.device_mesh."""

from torch.distributed.device_mesh import DeviceMesh, _mesh_resources, init_device_mesh  # noqa: F401
