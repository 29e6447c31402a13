"""parallelize_module: styles applied to parts of a module by their names."""

from fnmatch import fnmatch

from torch.distributed.device_mesh import _mesh_resources
from torch.distributed.tensor.parallel.style import ParallelStyle


def _named_parts(module, path):
    """The children that a path with wildcards names, level by level."""
    first, _, rest = path.partition(".")
    for name, child in module.named_children():
        if fnmatch(name, first):
            yield from _named_parts(child, rest) if rest else (child,)


def parallelize_module(module, device_mesh=None, parallelize_plan=None, *, src_data_rank=0):
    """Apply a style to the module, or styles to its parts: {"layers.*.w1": ColwiseParallel()}."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if mesh.ndim != 1:
        raise ValueError(f"parallelize_module takes a mesh of one dimension, not of {mesh.ndim}: slice it by a name")
    if parallelize_plan is None:
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(f"Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
                        f"{type(parallelize_plan)} found!")
    for path, style in parallelize_plan.items():
        parts = [module] if path == "" else list(_named_parts(module, path))
        if not parts:
            import warnings

            warnings.warn(f"Parallelize plan key '{path}' could not be resolved: no submodule matching token "
                          f"'{path.rpartition('.')[2]}' in module {module}, skipping this plan entry.")
        for part in parts:
            parallelize_module(part, mesh, style, src_data_rank=src_data_rank)
    return module
