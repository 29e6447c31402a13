"""functorch.compile: compilers that a program brings, for graphs of ATen operators."""

from torch._functorch import config  # noqa: F401
from torch._functorch.aot_autograd import (  # noqa: F401
    aot_function,
    aot_module,
    aot_module_simplified,
    make_boxed_compiler,
    make_boxed_func,
)
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition  # noqa: F401


def nop(fx_g, _):
    """A compiler that gives the graph itself back."""
    return make_boxed_func(fx_g.forward)


def print_compile(fx_g, _):
    """A compiler that prints the graph's code."""
    print(fx_g.code)
    return make_boxed_func(fx_g.forward)


def memory_efficient_fusion(fn, **kwargs):
    """fn by way of ATen graphs, with the partition that computes again what is cheap."""
    options = {"fw_compiler": nop, "bw_compiler": nop, "partition_fn": min_cut_rematerialization_partition, **kwargs}
    import torch

    return aot_module(fn, **options) if isinstance(fn, torch.nn.Module) else aot_function(fn, **options)
