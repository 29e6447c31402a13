"""Backends for graphs of ATen operators."""

import torch


def aot_autograd(fw_compiler=None, bw_compiler=None, inference_compiler=None, partition_fn=None, decompositions=None,
                 **options):
    """A backend that gives a compiler the graph's ATen operators."""
    from torch._functorch.aot_autograd import aot_module_simplified

    def backend(gm, example_inputs, **unused):
        return aot_module_simplified(gm, example_inputs, fw_compiler, bw_compiler, partition_fn,
                                     decompositions() if callable(decompositions) else decompositions,
                                     inference_compiler=inference_compiler)

    return backend


def fake_tensor_unsupported(fn):
    """Examples are tensors with data already."""
    return fn


def device_from_inputs(example_inputs):
    """The device of the first tensor."""
    return next((t.device for t in example_inputs if isinstance(t, torch.Tensor)), torch.device("cpu"))
