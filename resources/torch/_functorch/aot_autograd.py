"""Graphs of ATen operators for compilers that a program brings."""

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def make_boxed_func(f):
    """f for a list of its arguments."""

    def g(args):
        return f(*args)

    g._boxed_call = True
    return g


def make_boxed_compiler(compiler):
    """A compiler whose functions take a list of arguments."""

    def f(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    return f


def aot_module_simplified(mod, args, fw_compiler, bw_compiler=None, partition_fn=None, decompositions=None,
                          inference_compiler=None, **options):
    """What the compiler makes of the ATen operators of mod, for calls without gradients."""
    if torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in args):
        raise NotImplementedError("Kerf's aot_autograd gives a program's own compilers graphs without gradients only")
    compiler = inference_compiler or fw_compiler
    with torch.no_grad():
        graph = make_fx(mod, decomposition_table=decompositions)(*args)
        made = compiler(graph, list(args))
    if getattr(made, "_boxed_call", False):
        return lambda *given: made(list(given))
    return made


def aot_function(fn, fw_compiler, bw_compiler=None, partition_fn=None, decompositions=None, inference_compiler=None,
                 **options):
    """fn by way of aot_module_simplified, compiled at its first call."""
    compiled = []

    def call(*args):
        if not compiled:
            compiled.append(aot_module_simplified(fn, args, fw_compiler, bw_compiler, partition_fn, decompositions,
                                                  inference_compiler))
        return compiled[0](*args)

    return call
