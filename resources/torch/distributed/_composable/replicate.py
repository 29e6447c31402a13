"""replicate: gradients averaged, without a module around the module."""

from torch.distributed import distributed_c10d as c10d


def replicate(module, ignored_modules=None, **kwargs):
    """Parameters of rank 0 on every rank; each gradient is the mean of all ranks'."""
    mesh = kwargs.get("device_mesh")
    group = mesh.get_group() if mesh is not None else kwargs.get("process_group")
    left = {parameter for one in ignored_modules or () for parameter in one.parameters()}

    def average(parameter):
        c10d.all_reduce(parameter.grad, op=c10d.ReduceOp.AVG, group=group)

    for parameter in module.parameters():
        if parameter in left:
            continue
        c10d.broadcast(parameter, group=group, group_src=0)
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(average)
    return module
